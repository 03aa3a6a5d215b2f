import Streams

/// The one way of a call: build → interceptors → transport → hop → report once. Decoding and delivery follow in the
/// operators behind it. A network has one for all its calls.
final class CallPipeline: Sendable {
  /// How its answers are read.
  let reading: ResponseContext
  /// The same as the whole context of a response.
  private let context: Context
  let activity: Activity
  let mapping: any ImmediateSchedulerType
  /// Runs work there.
  let hop: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let interceptors: [any Interceptor]
  private let chosenTransport: (any Transport)?

  init(_ backend: Backend, _ activity: Activity) {
    self.activity = activity
    reading = ResponseContext(backend)
    var context = Context()
    context[ResponseContext.self] = reading
    self.context = context
    mapping = backend.mapping
    hop = mapping.submit
    interceptors = backend.interceptors
    chosenTransport = backend.transport
  }

  /// The transport of back ends that name none: one for all, as it keeps connections.
  private static let platformTransport = DefaultTransport.make()
  var transport: any Transport { chosenTransport ?? Self.platformTransport }

  /// The response to the request that `build` makes at each subscription: the last that the interceptors give.
  func response(
    _ progress: ProgressHandler? = nil, _ build: @escaping @Sendable () throws -> Request
  ) -> Single<Response> {
    responses(progress, isSingle: true, build).lastAsSingle()
  }

  /// Every response that the interceptors give to the request that `build` makes at each subscription: a cache may give
  /// its own before the network's.
  ///
  /// - Parameter isSingle: whether only the last is wanted, so that none is provisional.
  func responses(
    _ progress: ProgressHandler? = nil, isSingle: Bool = false, _ build: @escaping @Sendable () throws -> Request
  ) -> Observable<Response> {
    Observable(push: { [self] subscription, next in
      var request: Request
      do {
        request = try build()
      } catch {
        return fail(subscription, error)
      }
      note(on: &request, reportsProgress: progress != nil)
      // Behind all interceptors: what a retry saves is no error.
      let scope = HandlerScope(subscription) { [reading] error in
        subscription.finish(error.map { reading.report($0) })
      }
      exchanges(request, progress).run(scope) { [self] response in
        var response = response
        // The exchange may be shared with another back end's call, or made up by an interceptor.
        mark(&response)
        if isSingle, let cached = response.cached, cached.isProvisional { response.cached = cached.asLast }
        subscription.deliver(response, to: next)
      }
    })
  }

  private func exchanges(_ request: Request, _ progress: ProgressHandler?) -> Observable<Response> {
    let chain = Chain(interceptors: interceptors[...], mapping: mapping) { [self] request in
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
    return limited(chain(request), request)
  }

  private func transmission(_ request: Request, _ progress: ProgressHandler?) -> Observable<Response> {
    Observable(push: { [self] subscription, next in
      Transmission(request, self, progress, subscription, next).start()
    })
  }

  /// Fails `exchanges` when the whole call has taken too long.
  private func limited(_ exchanges: Observable<Response>, _ request: Request) -> Observable<Response> {
    let limit = request.timeouts.call
    // A limit of many years is none, and more than a `Duration` may hold.
    guard limit > 0, limit < 1e9 else { return exchanges }
    let scheduler = mapping as? any SchedulerType ?? ConcurrentDispatchQueueScheduler(qos: .utility)
    let end = Observable<Int>.timer(.seconds(limit), scheduler: scheduler).map { _ in
      throw NetworkError(
        kind: .timeout,
        reason:
          "the call to \(request.url.hostAndPort) had no result after \(limit) s (Timeouts.call, with all attempts "
          + "and pauses); raise it or look at the server", request: request)
    }
    return exchanges.takeUntil(end)
  }

  /// Where the call's results would arrive, so does what keeps it from being sent.
  private func fail(_ subscription: Subscription, _ error: any Error) {
    subscription.ownUntilRun { leave in
      mapping.schedule { [reading] in
        leave()
        subscription.fail(reading.report(reading.translated(NetworkError.wrapping(error))))
      }
    }
  }

  /// Notes on a request what is so at this subscription. What an earlier call has noted on it, where it is sent again as it
  /// was, counts no more.
  private func note(on request: inout Request, reportsProgress: Bool) {
    let isPartOfRefresh = AuthenticationInterceptor.isRefreshing
    if request.context[ReportsProgress.self] != reportsProgress {
      request.context[ReportsProgress.self] = reportsProgress
    }
    if request.context[IsPartOfRefresh.self] != isPartOfRefresh {
      request.context[IsPartOfRefresh.self] = isPartOfRefresh
    }
    if !request.context[Authentication.self].isEmpty { request.context[Authentication.self] = [] }
    for interceptor in interceptors { interceptor.prepare(&request) }
  }

  /// Notes on a response how it is read; one without other notes shares the context, which costs nothing.
  func mark(_ response: inout Response) {
    if response.context.isEmpty {
      response.context = context
    } else if response.context[ResponseContext.self] !== reading {
      response.context[ResponseContext.self] = reading
    }
  }
}
