import Streams

// Every function that starts a call is a short form of these three.
extension Network {
  /// Emits every response to `call`, of any status. If a cache responds before the network, there are two.
  ///
  /// Each subscription builds and sends its own request.
  func responses(
    _ call: CallContent, accept: String? = nil, progress: ProgressHandler? = nil,
    as reception: ResponseReception = .whole
  ) -> Observable<Response> {
    Observable(CallResponses(self, .call(call, accept: accept), as: reception, progress: progress, onlyLast: false))
  }

  /// Emits the last response to `call`, of any status.
  @usableFromInline
  package func response(
    to call: CallContent, accept: String? = nil, progress: ProgressHandler? = nil,
    as reception: ResponseReception = .whole
  ) -> Single<Response> {
    Single(
      trusted: Observable(
        CallResponses(self, .call(call, accept: accept), as: reception, progress: progress, onlyLast: true)))
  }

  /// Returns the last response to `call`, of any status, for a task that only awaits it.
  ///
  /// It may arrive on the transport's thread, and its error may be unreported: the task reports it.
  func awaitedResponse(to call: CallContent, accept: String?, progress: ProgressHandler?) -> Single<Response> {
    Single(
      trusted: Observable(
        CallResponses(self, .call(call, accept: accept), progress: progress, onlyLast: true, isAwaited: true)))
  }

  /// Sends `request` unchanged through the interceptors and emits the last response, of any status.
  ///
  /// The backend adds nothing: no headers, common parameters or signature.
  public func send(_ request: Request, progress: ProgressHandler? = nil) -> Single<Response> {
    Single(trusted: Observable(CallResponses(self, .request(request), progress: progress, onlyLast: true)))
  }
}

/// The responses to a call: it builds the request, sends it through the chain of interceptors, and reports errors once.
final class CallResponses: StreamSource {
  enum Content {
    case call(CallContent, accept: String?)
    case request(Request)
  }

  private let network: Network
  private let content: Content
  private let reception: ResponseReception
  private let progress: ProgressHandler?
  private let onlyLast: Bool
  /// Whether the receiver only resumes a task, which reports errors.
  private let isAwaited: Bool

  init(
    _ network: Network, _ content: Content, as reception: ResponseReception = .whole, progress: ProgressHandler?,
    onlyLast: Bool, isAwaited: Bool = false
  ) {
    (self.network, self.content, self.reception) = (network, content, reception)
    (self.progress, self.onlyLast, self.isAwaited) = (progress, onlyLast, isAwaited)
  }

  func start(_ sink: Sink<Response>) {
    var request: Request
    let labels: CallTags?
    do {
      (request, labels) = try makeRequest()
    } catch {
      return fail(sink.subscription, error)
    }
    let limit = request.hasCallLimit ? CallLimit.begin(&request, network.backend.clock) : nil
    // Outside all interceptors, because a failed attempt that a retry recovers from is not an error.
    let number = network.observers == nil ? nil : request.context[CallNumber.self]
    let call = number == nil ? nil : Cell(request)
    let invalidates = labels?.invalidates ?? []
    let delivery = delivery(invalidates: !invalidates.isEmpty)
    // Only an interceptor returns a response to another request.
    let accounts = network.interceptors.count > 1 ? network.logins.receivers(of: request) : nil
    let receiver = Receiver(
      network: network, sink: sink, last: onlyLast ? Cell(nil) : nil, number: number, call: call, accounts: accounts,
      reports: delivery == .mapping || network.interceptors.count > 1)
    let scope = ReceiverScope(sink.subscription, receiver) { $0.receiver.finish($1) }
    let chain = InterceptorChain(network: network, progress: progress, delivery: delivery)
    var responses = limit.map { limited(chain(request), request, $0) } ?? chain(request)
    if let observers = network.observers { responses = observed(responses, request, by: observers) }
    if !invalidates.isEmpty { responses = network.invalidating(invalidates, after: responses) }
    responses.run(scope) { scope.receiver.receive($0) }
  }

  /// Returns the destination of the events of the transport: an awaiting task, if no other code follows the transport, or
  /// if the task runs on the transport's thread, which its caller has chosen for the interceptors, too.
  private func delivery(invalidates: Bool) -> InterceptorChain.Delivery {
    guard isAwaited, !invalidates else { return .mapping }
    guard progress == nil else { return .mapping }
    if network.interceptors.count == 1 { return .task }
    return (network.transport as? any ThreadedTransport)?.isCurrentThread == true ? .task : .mapping
  }

  /// Builds the request, and replaces the notes of an earlier call with the same request.
  private func makeRequest() throws -> (Request, CallTags?) {
    var request: Request
    var labels: CallTags?
    var isResent = false
    switch content {
    case .call(let call, let accept):
      request = try network.builder.request(for: call, accept: accept)
      labels = call.caching.labels
    case .request(let sent): (request, isResent) = (sent, true)
    }
    let reading = network.reading
    if request.context[ResponseContext.self] !== reading { request.context[ResponseContext.self] = reading }
    if !request.credentials.isEmpty { request.credentials = [] }
    if let observers = network.observers {
      request.context[CallNumber.self] = CallNumber.next(at: observers.clock.uptime)
      // A reconnection counts together with the former connections.
      let isContinued = !isResent && request.context[Resends.self]?.isOfSentRequest == false
      if !isContinued { request.context[Resends.self] = Resends() }
    }
    reception.prepare(&request)
    if !network.accountSources.isEmpty, isResent || request.context[CallAccounts.self] == nil {
      // Stored writes and uploads, pages and reconnections belong to the users of another moment.
      request.context[CallAccounts.self] = CallAccounts(network.accountSources)
    }
    if isResent || !request.context[HasCallingContext.self] { network.captureContext(into: &request) }
    return (request, labels)
  }

  /// Notes the start of a call, and its cancellation.
  private func observed(
    _ responses: Observable<Response>, _ request: Request, by observers: CallObservers
  ) -> Observable<Response> {
    observers.note(.started, of: request) { event in
      if case .call(let call, _) = content { event.endpoint = call.endpoint }
    }
    let isOver = Flag()
    return responses.do(
      onNext: { _ in isOver.raise() }, onError: { _ in isOver.raise() },
      // Without a response, the receiver fails the call.
      onCompleted: { [onlyLast] in if onlyLast { isOver.raise() } },
      onDispose: { if !isOver.isRaised { observers.note(.cancelled, of: request) } })
  }

  /// Fails a call that can't be sent. The error arrives on the scheduler where results would arrive, or in the task
  /// that awaits it.
  private func fail(_ subscription: Subscription, _ error: any Error) {
    let error = network.reading.translated(NetworkError.wrapping(error))
    if isAwaited { return subscription.fail(error) }
    subscription.ownUntilRun { leave in
      network.backend.mapping.schedule { [reading = network.reading] in
        leave()
        subscription.fail(reading.report(error))
      }
    }
  }

  /// Fails `responses` when the whole call exceeds its time limit.
  private func limited(
    _ responses: Observable<Response>, _ request: Request, _ limit: CallLimit
  ) -> Observable<Response> {
    let name = request.isStreamed ? "Timeouts.call, or Timeouts.attempt for streams" : "Timeouts.call"
    return limit.limiting(responses) {
      NetworkError(
        kind: .timeout,
        reason:
          "the call to \(request.url.hostAndPort) had no result after \(request.timeouts.call.text) (\(name), including "
          + "all attempts and delays); raise the limit or check the server", request: request)
    }
  }

  /// The receiver of the responses.
  private struct Receiver: Sendable {
    let network: Network
    let sink: Sink<Response>
    /// The last response until the end, if only that one is to be emitted.
    let last: Cell<Response?>?
    /// The number of the call, if the network has observers.
    let number: CallNumber?
    /// The request of the call, if the network has observers.
    let call: Cell<Request>?
    /// The users of the call, if the network has interceptors.
    let accounts: CallReceivers?
    /// Whether this object reports errors. An awaiting task reports those of a transport without interceptors, which are of
    /// this call and `NetworkError`s.
    let reports: Bool

    func receive(_ response: Response) {
      // An interceptor may have returned a response to a call of another user.
      if let accounts, !accounts.accept(response) { return finish(CallAccounts.foreign(response)) }
      var response = response
      // The response may be shared with a call of another backend.
      if response.reading !== network.reading { response.context[ResponseContext.self] = network.reading }
      if let number, let observers = network.observers {
        let sent = response.adopt(number)
        observers.note(.received, of: response.request) { ($0.response, $0.sharedFrom) = (response.unowned, sent) }
      }
      guard let last else { return sink.deliver(response) }
      // If only the last response is used, none is provisional.
      if let cached = response.cached, cached.isProvisional { response.cached = cached.asLast }
      last.value = response
    }

    /// Returns the error with the number of this call. A shared request has the number of the call that was sent.
    private func adopted(_ error: any Error) -> any Error {
      guard let number, var error = error as? NetworkError else { return error }
      error.request?.context[CallNumber.self] = number
      return error
    }

    private func reported(_ error: any Error) -> NetworkError {
      network.reading.report(error, ending: call?.value)
    }

    func finish(_ error: (any Error)?) {
      if let error { return sink.subscription.fail(reports ? reported(adopted(error)) : error) }
      guard let last else { return sink.subscription.complete() }
      guard let response = last.value.take() else {
        let error = network.reading.error(
          .other, "an interceptor completed without a response; it must emit a response or an error")
        return sink.subscription.fail(reported(error))
      }
      sink.subscription.deliverIfActive(response, to: sink.next)
      sink.subscription.complete()
    }
  }
}
