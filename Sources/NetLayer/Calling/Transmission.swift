import PortableFoundation
import Streams

/// One request in the transport. This class cancels it, and moves its events from the transport's thread, which must not
/// be blocked, to the mapping queue (`Transmission+MappingQueue.swift`).
///
/// The subscription that it serves owns it. It releases that subscription when the request has ended. For a streamed
/// response, it does so when the head is delivered, regardless of how long the body takes.
final class Transmission: Disposable {
  enum Event {
    case progress(TransferProgress)
    case response(Response)
    // Errors are rare and large; without them, an event is copied faster.
    indirect case failure(NetworkError)
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
  }

  private let request: Request
  let pipeline: CallPipeline
  let progress: ProgressHandler?
  /// Guards the state, which the subscriber, the transport and the mapping queue access. Events are delivered and
  /// requests cancelled outside the lock.
  let state: Locked<State>

  init(
    _ request: Request, _ pipeline: CallPipeline, _ progress: ProgressHandler?, _ sink: consuming Sink<Response>
  ) {
    (self.request, self.pipeline, self.progress) = (request, pipeline, progress)
    let subscription = sink.subscription
    state = Locked(State(receiver: sink))
    subscription.own(self)
  }

  /// Signs the request and passes it to the transport.
  func start() {
    do {
      let request = try request.readyToSend()
      // Before the mark, so that a disposal on another thread does not count the request out first. The completion
      // always follows, and counts out.
      pipeline.activity.begin()
      state.withLock { $0.isCounted = true }
      if let options = request.context[SocketLink.Opening.self] {
        connect(request, options)
      } else if request.isStreamed {
        stream(request)
      } else {
        send(request)
      }
    } catch {
      add(.failure(error))
    }
  }

  /// Cancels the request, unless its head has been delivered: the body then belongs to its reader.
  func dispose() {
    let (former, sent) = state.withLock { state in
      ((state.receiver.take(), state.event.take(), exchange(&state.laterEvents, with: [])), state.sent.take())
    }
    withExtendedLifetime(former) {}  // released outside the lock
    sent?.dispose()
    if !request.isStreamed { countOut() }
  }

  // MARK: The transport's thread

  private func send(_ request: Request) {
    // Captures only this object, so that the closure is not allocated.
    let completion: @Sendable (Result<Response, NetworkError>) -> Void = { [self] result in
      countOut()
      if let measured = self.request.context[MetricsHandler.self] { result.metrics.map(measured) }
      switch result {
      case .success(let response): add(.response(response))
      case .failure(let error): add(.failure(error))
      }
    }
    let transport = pipeline.transport
    let progress: ProgressHandler? = progress == nil ? nil : { @Sendable [self] in add(.progress($0)) }
    if let destination = request.destination {
      hold(transport.download(request, to: destination, progress: progress, completion: completion))
    } else if let progress {
      hold(transport.send(request, progress: progress, completion: completion))
    } else {
      hold(transport.send(request, completion: completion))
    }
  }

  private func stream(_ request: Request) {
    let buffer = BodyBuffer(pipeline.mapping)
    hold(Disposables.create { buffer.cancel() })
    let control = pipeline.transport.stream(
      request, progress: nil,
      head: { [self] response in
        var response = response
        response.context[BodyReader.self] = BodyReader(buffer)
        add(.response(response), handsOver: true)
      }, chunk: buffer.push,
      completion: { [self] result in
        countOut()
        let metrics = result.metrics
        if let metrics { request.context[MetricsHandler.self]?(metrics) }
        switch result {
        case .success(let response): buffer.finish(nil, metrics, trailers: response.trailers)
        case .failure(let error):
          buffer.finish(error, metrics)
          add(.failure(error))
        }
      })
    buffer.attach(control)
  }

  private func connect(_ request: Request, _ options: WebSocketOptions) {
    guard let transport = pipeline.transport as? any SocketTransport else {
      countOut()
      let name = type(of: pipeline.transport)
      return add(
        .failure(
          NetworkError(
            kind: .invalidRequest,
            reason: "\(name) does not open WebSockets; on Linux, CurlTransport does, with libcurl 7.68 or later",
            request: request)))
    }
    let link = SocketLink(pipeline.mapping)
    hold(Disposables.create { link.cancel() })
    // The transport may respond before it has returned the control that sends and closes.
    let control = transport.connect(
      request, options: options,
      receiver: SocketReceiver(
        response: { [self] response in
          countOut()
          link.messages.whenAttached { [self] in
            var response = response
            let isOpen = response.status == 101
            if isOpen { response.context[SocketLink.Owner.self] = SocketLink.Owner(link) }
            add(.response(response), handsOver: isOpen)
          }
        }, message: link.messages.push,
        closed: { [self] result in
          countOut()
          link.messages.whenAttached { [self] in
            link.messages.end(with: result)
            if case .failure(let error) = result { add(.failure(error)) }
          }
        }))
    link.messages.attach(control)
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
    if isCounted { pipeline.activity.end() }
  }
}
