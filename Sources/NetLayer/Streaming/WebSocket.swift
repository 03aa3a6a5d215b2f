import PortableFoundation
import Streams

/// An open WebSocket (RFC 6455).
///
/// Only one loop can read the messages. A slow loop applies backpressure to the server: at most 256 KB of messages are
/// buffered. You can send and close on any thread. Releasing the socket ends it.
public final class WebSocket: Sendable {
  /// The response that opened the socket, with status 101.
  public let response: Response
  private let owner: WebSocketLink.Owner
  private let expectedCloseCodes: Set<CloseCode>

  init(_ response: Response, _ owner: WebSocketLink.Owner, expecting codes: Set<CloseCode>) {
    (self.response, self.owner, expectedCloseCodes) = (response, owner, codes)
  }

  var link: WebSocketLink { owner.link }

  /// The subprotocol that the server selected; `nil` for none.
  public var subprotocol: String? { response.headers["Sec-WebSocket-Protocol"] }

  /// Sends `message` and returns immediately, or, if more than 64 KB wait to be written, when it is written, so that a loop sends at the
  /// pace of the server.
  ///
  /// A message that is buffered, here or by the operating system, is lost with the connection; only a response of the
  /// server shows that it has arrived. Cancelling the task while `send` waits ends the socket, because half a message
  /// can't be withdrawn.
  ///
  /// - Throws: `NetworkError`. Its kind is `connection` if the socket has ended, and `cancelled` if the task is cancelled.
  ///   It is `socketClosed`, with the close code, if the server has closed the socket; the message may then not have arrived.
  public func send(_ message: WebSocketMessage) async throws(NetworkError) {
    if Task.isCancelled { throw cancelled("sent to") }
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        link.send(message, isTask: true) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      link.cancel()
    }
    guard let error else { return }
    throw Task.isCancelled ? cancelled("sent to") : response.explaining(error)
  }

  /// Sends a text message; see `send(_:)` for messages.
  public func send(_ text: String) async throws(NetworkError) { try await send(.text(text)) }

  /// Sends `message` at each subscription and completes immediately, or, if more than 64 KB wait to be written, when it is written.
  ///
  /// Disposing does not withdraw a message that is being sent.
  public func sending(_ message: WebSocketMessage) -> Completable {
    let (link, response) = (link, response)
    return Completable.create { observer in
      link.send(message) { error in
        observer(error.map { .error(response.explaining($0)) } ?? .completed)
      }
      return Disposables.create()
    }
  }

  /// Sends a text message at each subscription; see `sending(_:)` for messages.
  public func sending(_ text: String) -> Completable { sending(.text(text)) }

  /// Sends a close frame after all earlier messages. Messages that arrive later are dropped.
  ///
  /// The messages end without an error when the server has responded, or after 5 s.
  public func close(_ code: CloseCode = .normal, reason: String = "") { link.close(code, reason) }

  /// The server's close, which shows whether it has responded to `close(_:reason:)`; `nil` while the socket is open, and
  /// after an error.
  ///
  /// Its code is `abnormal` if no close frame arrived before the connection was lost, or within 5 s. Callable on any
  /// thread.
  public var serverClose: WebSocketClose? {
    guard case .success(let close)? = link.messages.connection.end else { return nil }
    return close
  }

  /// The messages for a `for try await` loop, which reads each message when it requests it.
  ///
  /// The loop ends when the client closes the socket, or the server with one of
  /// `WebSocketOptions.expectedCloseCodes`: by default 1000 or none. Any other is an error of kind `socketClosed` with the close
  /// code as its `code`. Cancelling the task ends the loop with `cancelled` and leaves the
  /// socket open.
  public var messages: Messages { Messages(socket: self) }

  /// The messages of a socket as an async sequence.
  public struct Messages: AsyncSequence, Sendable {
    let socket: WebSocket

    /// Starts reading. The first step of a second iterator throws, because messages can only be read once.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(socket: socket, isOwner: socket.link.messages.claim())
    }

    /// An iterator that reads the messages one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let socket: WebSocket
      let isOwner: Bool

      /// Returns the next message, or `nil` at the end.
      ///
      /// - Throws: `NetworkError`: the socket's error, or one of kind `cancelled` or `other`.
      public mutating func next() async throws -> WebSocketMessage? {
        guard isOwner else { throw socket.claimedTwice }
        return try await socket.next()
      }
    }
  }

  private func next() async throws(NetworkError) -> WebSocketMessage? {
    while true {
      if Task.isCancelled { throw cancelled("read") }
      let step = await withTaskCancellationHandler {
        await withCheckedContinuation { (continuation: CheckedContinuation<WebSocketLink.Messages.Step, Never>) in
          let step = link.messages.take(isTask: true) { continuation.resume(returning: .wait) }
          if case .wait = step {
            // The cancellation may have arrived before the waiter was registered.
            if Task.isCancelled { link.messages.wakeWaiter() }
            return
          }
          continuation.resume(returning: step)
        }
      } onCancel: {
        link.messages.wakeWaiter()
      }
      switch step {
      case .element(let message): return message
      case .wait: continue
      case .end(let result):
        if let error = error(of: result) { throw error }
        return nil
      }
    }
  }

  /// The messages, each emitted after the previous one has been processed.
  var stream: Observable<WebSocketMessage> {
    Observable.create { [self] observer in
      guard link.messages.claim() else {
        observer.onError(claimedTwice)
        return Disposables.create()
      }
      pump(to: observer)
      return Disposables.create { [link] in link.cancel() }
    }
  }

  private func pump(to observer: AnyObserver<WebSocketMessage>) {
    while true {
      switch link.messages.take(orCall: { [self] in pump(to: observer) }) {
      case .element(let message): observer.onNext(message)
      case .end(let result): return error(of: result).map { observer.onError($0) } ?? observer.onCompleted()
      case .wait: return
      }
    }
  }

  func end(_ code: CloseCode) async {
    close(code)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in link.messages.whenOver { continuation.resume() } }
    } onCancel: {
      link.cancel()
    }
  }

  private func error(of result: Result<WebSocketClose, NetworkError>) -> NetworkError? {
    switch result {
    case .success(let close):
      link.hasClosed
        ? nil
        : NetworkError.closing(close, of: response.request, expected: expectedCloseCodes).map(response.explaining)
    case .failure(let error): response.explaining(error)
    }
  }

  private func cancelled(_ verb: String) -> NetworkError {
    response.explaining(NetworkError(kind: .cancelled, reason: "the task that \(verb) the socket was cancelled"))
  }

  private var claimedTwice: NetworkError {
    NetworkError(
      kind: .other, reason: "the messages of a socket can be read only once; open the endpoint again",
      response: response)
  }
}
