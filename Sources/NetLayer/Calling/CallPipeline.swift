import Streams

/// The pipeline of every call: build, interceptors, transport (`Transmission`, which also switches to the mapping
/// queue), report errors once.
/// Operators decode and deliver afterwards. A network has one pipeline for all its calls.
final class CallPipeline: Sendable {
  /// The context for reading the pipeline's responses.
  let reading: ResponseContext
  let activity: Activity
  /// The mapping queue, and the reading context as the complete context of a response.
  let answering: Chain.Answering
  private let interceptors: [any Interceptor]
  private let chosenTransport: (any Transport)?

  /// Creates a pipeline of a network whose own transport has the number `own`.
  init(_ backend: Backend, _ activity: Activity, own: UInt64) {
    self.activity = activity
    reading = ResponseContext(backend)
    var context = Context()
    context[ResponseContext.self] = reading
    let account = backend.transport?.account
    answering = Chain.Answering(
      mapping: backend.mapping, context: context,
      transport: TransportIdentity(
        number: backend.transportNumber, account: account, isLasting: account != nil || backend.transportNumber == own))
    interceptors = backend.interceptors
    chosenTransport = backend.transport
  }

  /// The transport of all backends without their own; they share it because it keeps connections open.
  private static let platformTransport = DefaultTransport.make()
  var transport: any Transport { chosenTransport ?? Self.platformTransport }
  var mapping: any ImmediateSchedulerType { answering.mapping }

  /// Emits the last response of the interceptors to the request that `build` creates at each subscription.
  func response(
    _ progress: ProgressHandler? = nil, _ build: @escaping @Sendable () throws -> Request
  ) -> Single<Response> {
    Single(
      trusted: Observable(push: { [self] in start(Sink($0, $1), progress, last: Cell(nil), read: { $0 }, build) }))
  }

  /// Emits every response of the interceptors to the request that `build` creates at each subscription. A cache may
  /// emit a response before the network's.
  func responses(
    _ progress: ProgressHandler? = nil, _ build: @escaping @Sendable () throws -> Request
  ) -> Observable<Response> {
    results(progress, build) { $0 }
  }

  /// Emits the non-`nil` results of `read` for the responses of the interceptors, like `responses(…).compactMap(read)`
  /// with fewer allocations. The parameters are those of `responses`.
  func results<Output: Sendable>(
    _ progress: ProgressHandler? = nil, _ build: @escaping @Sendable () throws -> Request,
    read: @escaping @Sendable (Response) throws -> Output?
  ) -> Observable<Output> {
    Observable(push: { [self] in start(Sink($0, $1), progress, read: read, build) })
  }

  /// Starts a call at a subscription. The parameters are those of `results`, and `last`, which keeps the last result
  /// until the end of the interceptors' responses if only that one is to be emitted.
  func start<Output: Sendable>(
    _ sink: Sink<Output>, _ progress: ProgressHandler?, last: Cell<Output?>? = nil,
    read: @escaping @Sendable (Response) throws -> Output?, _ build: () throws -> Request
  ) {
    var request: Request
    do {
      request = try build()
    } catch {
      return fail(sink.subscription, error)
    }
    note(on: &request, reportsProgress: progress != nil)
    // Outside all interceptors, because a failed attempt that a retry recovers from is not an error.
    let reader = ResponseReader(pipeline: self, sink: sink, last: last, read: read)
    let scope = ReceiverScope(sink.subscription, reader) { $0.receiver.finish($1) }
    let isPlain = interceptors.isEmpty && request.timeouts.call == nil
    // A short cut for most requests.
    if isPlain, request.context[Signing.AwaitedSignature.self] == nil {
      if !scope.isStopped { transmit(request, progress, Sink(scope) { scope.receiver.receive($0) }) }
    } else {
      exchanges(request, progress).run(scope) { scope.receiver.receive($0) }
    }
  }

  private func transmit(_ request: Request, _ progress: ProgressHandler?, _ sink: consuming Sink<Response>) {
    Transmission(request, self, progress, sink).start()
  }

  private func exchanges(_ request: Request, _ progress: ProgressHandler?) -> Observable<Response> {
    if interceptors.isEmpty { return limited(signed(request, progress), request) }
    // Without progress, the closure captures only this object, so it is not allocated.
    var send: @Sendable (Request) -> Observable<Response> = { [self] in signed($0, nil) }
    if let progress { send = { [self] in signed($0, progress) } }
    return limited(Chain(interceptors: interceptors[...], answering: answering, send: send)(request), request)
  }

  /// Sends `request`, after signing it if the signer is asynchronous.
  private func signed(_ request: Request, _ progress: ProgressHandler?) -> Observable<Response> {
    guard let signature = request.context[Signing.AwaitedSignature.self] else {
      return transmission(request, progress)
    }
    let isPartOfRefresh = request.context[IsPartOfRefresh.self]
    return Single.from {
      try await AuthenticationInterceptor.$isRefreshing.withValue(isPartOfRefresh) {
        try await signature.sign(request)
      }
    }
    .asObservable()
    .mapError { [reading] in reading.translated(NetworkError.wrapping($0)) }
    .observeOn(mapping).flatMap { [self] in transmission($0, progress) }
  }

  private func transmission(_ request: Request, _ progress: ProgressHandler?) -> Observable<Response> {
    Observable(TransmissionSource(pipeline: self, request: request, progress: progress))
  }

  /// Sends a request at each subscription.
  private final class TransmissionSource: StreamSource {
    private let pipeline: CallPipeline
    private let request: Request
    private let progress: ProgressHandler?

    init(pipeline: CallPipeline, request: Request, progress: ProgressHandler?) {
      (self.pipeline, self.request, self.progress) = (pipeline, request, progress)
    }

    func start(_ sink: Sink<Response>) { pipeline.transmit(request, progress, sink) }
  }

  /// Fails `exchanges` when the whole call exceeds its time limit.
  private func limited(_ exchanges: Observable<Response>, _ request: Request) -> Observable<Response> {
    // The transport rejects an invalid limit. A limit of many years may exceed the range of a scheduler.
    guard let limit = request.timeouts.call, limit > .zero, limit < .seconds(1_000_000_000) else { return exchanges }
    let scheduler = mapping as? any SchedulerType ?? ConcurrentDispatchQueueScheduler(qos: .utility)
    let name = request.isStreamed ? "Timeouts.call, or Timeouts.total for events" : "Timeouts.call"
    let end = Observable<Int>.timer(limit, scheduler: scheduler).map { _ in
      throw NetworkError(
        kind: .timeout,
        reason:
          "the call to \(request.url.hostAndPort) had no result after \(limit.text) (\(name), including all attempts and "
          + "delays); raise the limit or check the server", request: request)
    }
    return exchanges.takeUntil(end)
  }

  /// Fails a call that can't be sent. The error arrives on the scheduler where results would arrive.
  private func fail(_ subscription: Subscription, _ error: any Error) {
    subscription.ownUntilRun { leave in
      mapping.schedule { [reading] in
        leave()
        subscription.fail(reading.report(reading.translated(NetworkError.wrapping(error))))
      }
    }
  }

  /// Attaches the state of this subscription to the request, replacing the notes of an earlier call with the same
  /// request.
  private func note(on request: inout Request, reportsProgress: Bool) {
    let isPartOfRefresh = AuthenticationInterceptor.isRefreshing
    if request.context[ReportsProgress.self] != reportsProgress {
      request.context[ReportsProgress.self] = reportsProgress
    }
    if request.context[IsPartOfRefresh.self] != isPartOfRefresh {
      request.context[IsPartOfRefresh.self] = isPartOfRefresh
    }
    if !request.context[Authentication.self].isEmpty { request.context[Authentication.self] = [] }
    request.setResponseContext(answering.context)
    for interceptor in interceptors { interceptor.prepare(&request) }
  }

  /// Attaches the reading context to a response. Most responses have it from their request.
  func mark(_ response: inout Response) {
    if !response.hasUnchanged(answering.context), response.context[ResponseContext.self] !== reading {
      response.context[ResponseContext.self] = reading
    }
  }
}

/// The receiver of one call's responses, which reads them for the subscriber.
private struct ResponseReader<Output: Sendable>: Sendable {
  let pipeline: CallPipeline
  let sink: Sink<Output>
  let last: Cell<Output?>?
  let read: @Sendable (Response) throws -> Output?

  func receive(_ response: Response) {
    var response = response
    // The response may be shared with a call of another backend, or created by an interceptor.
    pipeline.mark(&response)
    // If only the last response is used, none is provisional.
    if last != nil, let cached = response.cached, cached.isProvisional { response.cached = cached.asLast }
    do {
      guard let output = try read(response) else { return }
      if let last { last.value = output } else { try sink.next(output) }
    } catch {
      sink.subscription.fail(error)
    }
  }

  func finish(_ error: (any Error)?) {
    if let error { return sink.subscription.fail(pipeline.reading.report(error)) }
    guard let last else { return sink.subscription.complete() }
    guard let output = last.value.take() else {
      let error = pipeline.reading.error(
        .other, "an interceptor completed without a response; it must emit a response or an error")
      return sink.subscription.fail(pipeline.reading.report(error))
    }
    sink.subscription.deliverIfActive(output, to: sink.next)
    sink.subscription.complete()
  }
}
