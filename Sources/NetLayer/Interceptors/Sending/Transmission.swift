import PortableFoundation
import Streams

/// The last interceptor, which sends a request to the transport at each subscription.
struct TransportInterceptor: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let (network, progress, delivery) = (next.network, next.progress, next.delivery)
    // Few requests have such credentials. For the others, no closure is allocated.
    if OriginRedirects.follows(request) {
      let redirects = OriginRedirects(request, clock: next.clock) { request in
        Observable(push: {
          Transmission.begin(request, of: network, progress: progress, delivery: delivery, Sink($0, $1))
        })
      }
      return redirects.response
    }
    return Observable(push: {
      Transmission.begin(request, of: network, progress: progress, delivery: delivery, Sink($0, $1))
    })
  }
}

/// The last interceptor of a network that only prepares requests. It passes on what `TransportInterceptor` would send, and emits
/// nothing.
struct PreparingInterceptor: Interceptor {
  let receive: @Sendable (Request) -> Void

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable(push: { [logins = next.network.logins] subscription, _ in
      if let failure = logins.signOut(of: request) { return subscription.fail(failure) }
      receive(request.isForeign ? request.withoutForeignCredentials : request)
    })
  }
}

/// One request in the transport. This class cancels it, and moves its events from the transport's thread, which must not
/// be blocked, to the mapping queue or to an awaiting task.
///
/// The subscription that it serves owns it. It releases that subscription when the request has ended. For a streamed
/// response, it does so when the head is delivered, regardless of how long the body takes.
final class Transmission: Disposable, LimitedWork {
  enum Event {
    case progress(TransferProgress)
    case response(Response)
    case failure(NetworkError)
  }

  struct State {
    /// The receiver of the events; `nil` after disposal, or when the last event is delivered.
    var receiver: Sink<Response>?
    /// The events that the mapping queue has yet to deliver one by one, and whether it is delivering. Most
    /// requests have one event, which needs no array.
    var event: Event?
    var laterEvents: [Event] = []
    var isDelivering = false
    /// The disposable that cancels the request in flight.
    var sent: (any Disposable)?
    var isCounted = false
    /// The error by which the limit of the call has ended the request, instead of `cancelled`.
    var end: NetworkError?
  }

  private let request: Request
  let network: Network
  let progress: ProgressHandler?
  private let delivery: InterceptorChain.Delivery
  /// The limit of the call, which ends the request as an error of the transport would.
  private let limit: CallLimit?
  /// Guards the state, which the subscriber, the transport and the mapping queue access. Events are delivered and
  /// requests cancelled outside the lock.
  let state: Locked<State>

  init(
    _ request: Request, of network: Network, progress: ProgressHandler?, delivery: InterceptorChain.Delivery,
    _ sink: consuming Sink<Response>
  ) {
    self.request = network.observers.map { request.counted(at: $0.clock.uptime) } ?? request
    (self.network, self.progress, self.delivery, limit) = (network, progress, delivery, CallLimit.of(request))
    let subscription = sink.subscription
    state = Locked(State(receiver: sink))
    subscription.own(self)
  }

  /// Sends `request`, unless another user has signed in since it began.
  ///
  /// It follows all interceptors, because any of them may have paused the call, and because a custom one does not know
  /// that a server has chosen the URL.
  static func begin(
    _ request: Request, of network: Network, progress: ProgressHandler?, delivery: InterceptorChain.Delivery,
    _ sink: consuming Sink<Response>
  ) {
    if !network.logins.isEmpty, let failure = network.logins.signOut(of: request) {
      return sink.subscription.fail(failure)
    }
    let request = request.isForeign ? request.withoutForeignCredentials : request
    Transmission(request, of: network, progress: progress, delivery: delivery, sink).start()
  }

  /// Passes the request to the transport.
  private func start() {
    if let limit, !limit.admits(self) { return }
    // Before the mark, so that a disposal on another thread does not count the request out first. The completion
    // always follows, and counts out.
    network.activity.begin()
    state.withLock { $0.isCounted = true }
    network.observers?.note(.sent, of: request)
    switch request.context[ResponseReception.self] {
    case .whole: send()
    case .streamed: stream()
    case .webSocket(let options): connect(options)
    }
  }

  /// Cancels the request, unless its head has been delivered: the body then belongs to its reader.
  func dispose() {
    let sent = state.take { state in
      (state.sent.take(), (state.receiver.take(), state.event.take(), exchange(&state.laterEvents, with: [])))
    }
    sent?.dispose()
    limit?.leave(self)
    if !request.isStreamed { countOut() }
  }

  /// Fails the request when the limit of its call ends. The delivery of the error cancels it.
  func end(with error: NetworkError) {
    var error = error
    error.request = request
    state.withLock { [error] in $0.end = error }
    add(.failure(finished(error)))
  }

  // MARK: The transport's thread

  private func send() {
    // Captures only this object, so that the closure is not allocated.
    let completion: @Sendable (Result<Response, NetworkError>) -> Void = { [self] result in
      finish(result)
      switch result {
      case .success(let response): add(.response(response))
      case .failure(let error): add(.failure(finished(error)))
      }
    }
    let transport = network.transport
    let progress: ProgressHandler? = progress == nil ? nil : { @Sendable [self] in add(.progress($0)) }
    if let destination = request.destination {
      hold(transport.download(request, to: destination, progress: progress, completion: completion))
    } else {
      hold(transport.send(request, progress: progress, completion: completion))
    }
  }

  private func stream() {
    let buffer = BodyBuffer(network.backend.mapping)
    hold(Disposables.create { buffer.cancel() })
    let control = network.transport.stream(
      request, progress: nil,
      receiver: StreamReceiver(
        head: { [self] response in
          noteHead(response)
          var response = response
          response.context[BodyReader.self] = BodyReader(buffer)
          add(.response(response), handsOver: true)
        }, chunk: noting(.chunk, buffer.push) { $0.data = $1 },
        completion: { [self] result in
          finish(result)
          switch result {
          case .success(let response): buffer.finish(nil, response.metrics, trailers: response.trailers)
          case .failure(let error):
            buffer.finish(error, error.metrics)
            add(.failure(finished(error)))
          }
        }))
    buffer.attach(control)
  }

  private func connect(_ options: WebSocketOptions) {
    guard let transport = network.transport as? any WebSocketTransport else {
      let name = type(of: network.transport)
      let reason = "\(name) does not open WebSockets; on Linux, CurlTransport does, with libcurl 7.68 or later"
      let error = NetworkError(kind: .invalidRequest, reason: reason, request: request)
      finish(.failure(error))
      return add(.failure(finished(error)))
    }
    let noted = network.observers.map { observers in
      { @Sendable [request] message in observers.note(.messageSent, of: request) { $0.message = message } }
    }
    let link = WebSocketLink(network.backend.mapping, onSend: noted)
    hold(Disposables.create { link.cancel() })
    // The transport may respond before it has returned the control that sends and closes.
    let control = transport.connect(
      request, options: options,
      receiver: WebSocketReceiver(
        response: { [self] response in
          countOut()
          noteHead(response)
          link.messages.whenAttached { [self] in
            var response = response
            let isOpen = response.status == 101
            if isOpen { response.context[WebSocketLink.Owner.self] = WebSocketLink.Owner(link) }
            add(.response(response), handsOver: isOpen)
          }
        }, message: noting(.messageReceived, link.messages.push) { $0.message = $1 },
        closed: { [self] result in
          countOut()
          noteClose(result)
          link.messages.whenAttached { [self] in
            link.messages.end(with: result)
            if case .failure(let error) = result { add(.failure(finished(error))) }
          }
        }))
    link.messages.attach(control)
  }

  /// Counts the request out, and notes its result.
  private func finish(_ result: Result<Response, NetworkError>) {
    countOut()
    guard let observers = network.observers else { return }
    // Those of a stream are counted with its head.
    if !request.isStreamed { request.context[Resends.self]?.add(redirects: result.redirectCount) }
    let end = state.withLock { $0.end }
    observers.note(.finished, of: request) { event in
      event.add(end.map { .failure($0) } ?? result)
    }
  }

  /// Returns an error with which the transport has finished the attempt, as observers of the call see it.
  private func finished(_ error: NetworkError) -> NetworkError {
    guard network.observers != nil else { return error }
    var error = error
    error.context[IsOfAttempt.self] = true
    return error
  }

  private func noteHead(_ response: Response) {
    guard let observers = network.observers else { return }
    request.context[Resends.self]?.add(redirects: response.redirects.count)
    observers.note(.head, of: request) { $0.response = response }
  }

  private func noteClose(_ result: Result<WebSocketClose, NetworkError>) {
    network.observers?.note(.closed, of: request) { event in
      switch result {
      case .success(let close): event.close = close
      case .failure(let error): event.error = error
      }
    }
  }

  /// Returns `push`, which notes each element if the network has observers.
  private func noting<Element>(
    _ kind: CallEvent.Kind, _ push: @escaping @Sendable (Element) -> BodyFlow,
    _ fill: @escaping @Sendable (inout CallEvent, Element) -> Void
  ) -> @Sendable (Element) -> BodyFlow {
    guard let observers = network.observers else { return push }
    return { [request] element in
      observers.note(kind, of: request) { fill(&$0, element) }
      return push(element)
    }
  }

  /// Keeps the disposable that cancels the request until the request has ended.
  private func hold(_ sent: any Disposable) {
    let isOver = state.withLock { state in
      if state.receiver != nil { state.sent = sent }
      return state.receiver == nil
    }
    if isOver { sent.dispose() }
  }

  /// Counts the request out, once.
  private func countOut() {
    let isCounted = state.withLock { state in
      defer { state.isCounted = false }
      return state.isCounted
    }
    if isCounted { network.activity.end() }
  }
}

/// The switch from the transport's thread to the mapping queue, `Backend.mapping`, or to an awaiting task.
extension Transmission {
  /// Queues an event and starts the delivery, unless it is running. Called on the transport's thread.
  ///
  /// - Parameter handsOver: Whether the receiver of the response, not this object, cancels the rest of the request.
  func add(_ event: Event, handsOver: Bool = false) {
    let starts = state.withLock { state in
      guard state.receiver != nil else { return false }
      if handsOver { state.sent = nil }
      if state.event == nil { state.event = event } else { state.laterEvents.append(event) }
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard starts else { return }
    switch delivery {
    case .mapping: network.runOnMappingQueue { [self] in deliver() }
    case .task: deliver()
    }
  }

  /// Delivers the queued events. Called on the mapping queue, or on the transport's thread for an awaiting task.
  private func deliver() {
    while let (event, receiver) = takeEvent() {
      switch event {
      case .progress(let progress): self.progress?(progress)
      case .response(let response):
        if let limit, !response.isSuccess {
          limit.note { response.statusFailure(in: response.reading.envelope.value) }
        }
        receiver.deliver(response)
        receiver.subscription.complete()
      case .failure(let error):
        let error = network.reading.translated(error)
        limit?.note { error }
        receiver.subscription.fail(error)
      }
    }
  }

  /// Takes the oldest event. A call that finds no event ends the delivery.
  private func takeEvent() -> (Event, Sink<Response>)? {
    state.withLock { state in
      guard state.receiver != nil, let event = state.event.take() else {
        state.isDelivering = false
        return nil
      }
      if !state.laterEvents.isEmpty { state.event = state.laterEvents.removeFirst() }
      // Moved if it is the last event.
      let receiver = if case .progress = event { state.receiver } else { state.receiver.take() }
      return receiver.map { (event, $0) }
    }
  }
}
