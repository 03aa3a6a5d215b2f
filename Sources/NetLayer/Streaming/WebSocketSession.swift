import PortableFoundation
import Streams

/// A WebSocket session that connects when its messages are subscribed, and reconnects after the connection is lost.
///
/// ```swift
/// let session = network.webSocket(.get("/prices"), reconnect: RetryPolicy(attempts: 10)) { socket in
///   socket.sending(#"{"subscribe":"AAPL"}"#)
/// }
/// session.messages.subscribe(onNext: { print($0) }).disposed(by: bag)
/// ```
public final class WebSocketSession: Sendable {
  /// An event of the connection.
  public struct Event: Sendable {
    /// The kind of an event. A struct, so that a new kind does not break the `switch` statements of users.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
      private enum Known { case opened, reconnecting }

      private let known: Known

      /// The name of the kind.
      public var description: String { "\(known)" }

      /// The socket is open; `onOpen` is called next.
      public static let opened = Kind(known: .opened)
      /// The connection was lost or refused. The next connection follows after a delay.
      public static let reconnecting = Kind(known: .reconnecting)
    }

    /// The kind of the event.
    public let kind: Kind
    /// The server's response of `opened`; otherwise `nil`.
    public private(set) var response: Response?
    /// The error of `reconnecting`; otherwise `nil`.
    public private(set) var error: NetworkError?
    /// The delay before the next connection of `reconnecting`; otherwise `nil`.
    public private(set) var delay: Duration?

    /// Creates the event of a socket that is open.
    public static func opened(_ response: Response) -> Event { Event(kind: .opened, response: response) }
    /// Creates the event of a connection that was lost or refused with `error`.
    public static func reconnecting(after delay: Duration, _ error: NetworkError) -> Event {
      Event(kind: .reconnecting, error: error, delay: delay)
    }
  }

  /// The messages of every connection. The first subscription connects, later subscriptions share the connection, and
  /// disposing the last one closes it.
  ///
  /// Messages arrive on the backend's `mapping` scheduler, each after the previous one has been processed. A slow
  /// subscriber applies backpressure to the server. The stream completes when the server closes with one of
  /// `WebSocketOptions.expectedCloseCodes`. Any other end is an error or triggers a reconnection.
  public let messages: Observable<WebSocketMessage>
  /// The events of the connection; subscribing does not connect.
  public var events: Observable<Event> { happenings.asObservable() }

  private let happenings: PublishSubject<Event>
  private let state: WebSocketSessionState
  /// The backend's encoder and decoder.
  let reading: ResponseContext

  /// - Parameter begin: A closure that begins a subscription. It returns a function that opens a socket, after another one that
  ///   the server has closed.
  init(
    beginning begin: @escaping @Sendable () -> @Sendable (_ closed: Response?) -> Single<WebSocket>,
    reading: ResponseContext, reconnect: RetryPolicy?, after closeCodes: Set<CloseCode>,
    onOpen: (@Sendable (WebSocket) -> Completable)?
  ) {
    let happenings = PublishSubject<Event>()
    let state = WebSocketSessionState()
    let left = NetworkError(
      kind: .cancelled, reason: "the messages of the session have no subscriber; subscribe before you send")
    let ended = NetworkError(kind: .connection, reason: "the server closed the socket with code 1000")
    messages = Observable<WebSocketMessage>.deferred {
      let (count, subscription) = (ReconnectCount(reconnect, after: closeCodes), state.subscribe())
      let open = begin()
      // The response of the last socket, if the server has closed it. The thread that loses a connection writes it before the
      // next one opens.
      let closed = Locked<Response?>(nil)
      let connection = Observable.deferred { open(closed.withLock { $0.take() }).asObservable() }
        .flatMap { socket -> Observable<WebSocketMessage> in
          count.noteOpening()
          happenings.onNext(.opened(socket.response))
          return Self.messages(of: socket, state, subscription, onOpen)
            .do(
              onNext: { _ in count.noteReceipt() },
              onError: { error in closed.withLock { $0 = Self.response(of: socket, closedBy: error) } })
        }
      return Self.reconnecting(connection, by: reconnect, count, happenings)
        .do(
          onError: { state.end(subscription, NetworkError.wrapping($0)) },
          onCompleted: { state.end(subscription, ended) }, onDispose: { state.end(subscription, left) })
    }
    .share()
    (self.happenings, self.state, self.reading) = (happenings, state, reading)
  }

  /// Sends `message` at each subscription and completes immediately, or, if more than 64 KB wait to be written, when it is written.
  ///
  /// While no socket is open, the message waits for the next socket, after `onOpen`; disposing withdraws the message.
  /// It fails when the messages end or are disposed. A message that was being sent when the connection was lost fails
  /// with `connection` if it has not completed. It is never sent again, because the server may have received it.
  public func sending(_ message: WebSocketMessage) -> Completable {
    state.steps.flatMap { step -> Observable<WebSocket> in
      switch step {
      case .waiting: .empty()
      case .open(let socket): .just(socket)
      case .ended(let error): .error(error)
      }
    }
    .take(1).flatMap { $0.sending(message).asObservable() }.asCompletable()
  }

  /// Sends a text message at each subscription; see `sending(_:)` for messages.
  public func sending(_ text: String) -> Completable { sending(.text(text)) }

  /// Sends `message` and returns immediately, or, if more than 64 KB wait to be written, when it is written; see `sending(_:)`.
  ///
  /// - Throws: `NetworkError`; its kind is `cancelled` if the task is cancelled, which withdraws a waiting message.
  public func send(_ message: WebSocketMessage) async throws(NetworkError) { try await sent(sending(message)) }

  /// Sends a text message; see `send(_:)` for messages.
  public func send(_ text: String) async throws(NetworkError) { try await sent(sending(.text(text))) }

  /// Waits for a message to be sent.
  func sent(_ sending: Completable) async throws(NetworkError) {
    do {
      try await sending.value
    } catch is CancellationError {
      throw reading.error(.cancelled, "the task that sent a message was cancelled")
    } catch {
      throw NetworkError.wrapping(error)
    }
  }

  /// Returns the response of a socket that the server has closed with a code, or `nil`.
  private static func response(of socket: WebSocket, closedBy error: any Error) -> Response? {
    guard let code = (error as? NetworkError)?.closeCode else { return nil }
    var response = socket.response
    response.closeCode = code
    // The chain of all former sockets would grow with each connection.
    response.request.context[ClosedSocket.self] = nil
    return response
  }

  /// Emits the messages of `connection`, which reconnects according to `policy`.
  private static func reconnecting(
    _ connection: Observable<WebSocketMessage>, by policy: RetryPolicy?, _ count: ReconnectCount,
    _ happenings: PublishSubject<Event>
  ) -> Observable<WebSocketMessage> {
    guard let policy else { return connection }
    return connection.retryWhen { errors in
      errors.flatMap { error in
        guard let pause = count.pause(after: error) else { throw error }
        happenings.onNext(.reconnecting(after: pause, NetworkError.wrapping(error)))
        return Observable<Int>.timer(pause, scheduler: policy.timer)
      }
    }
  }

  private static func messages(
    of socket: WebSocket, _ state: WebSocketSessionState, _ subscription: Int,
    _ onOpen: (@Sendable (WebSocket) -> Completable)?
  ) -> Observable<WebSocketMessage> {
    Observable.create { observer in
      let connection = state.connect(subscription)
      let opening = (onOpen?(socket) ?? .empty())
        .subscribe(onCompleted: { state.open(socket, connection) }, onError: { observer.onError($0) })
      let stream = socket.stream.subscribe(
        onNext: { observer.onNext($0) }, onError: { observer.onError($0) }, onCompleted: { observer.onCompleted() })
      return Disposables.create {
        opening.dispose()
        stream.dispose()
        state.lose(connection)
      }
    }
  }
}

extension Network {
  /// Creates a session for a WebSocket at `endpoint`. It connects when its messages are subscribed.
  ///
  /// The opening request is built again for each connection and passes through the interceptors. `ws` and `wss` URLs
  /// are accepted. The session reconnects if a new connection may succeed:
  ///
  /// - after failures of kind `connection`, `unknownHost` and `timeout`
  /// - after the close codes of `WebSocketOptions.reconnectingCloseCodes`: by default 1001, 1006 and 1011 to 1014
  /// - once a socket has been open, after the temporary statuses 408, 425, 429 and 5xx (except 501 and 505), whose
  ///   `Retry-After` applies up to ten minutes
  ///
  /// Before a connection that follows a close, an ``AuthenticationInterceptor`` refreshes its token if `isRejected` is `true` for
  /// the response with ``HTTPTransport/Response/closeCode``.
  ///
  /// A connection that has lasted resets the number of attempts: for 5 s if it has brought a message, otherwise for the
  /// policy's `maxDelay`, at least 5 s and at most 60 s.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint of the opening request, a GET.
  ///   - options: The options of each socket.
  ///   - reconnect: The reconnection policy; `nil`, the default, never reconnects.
  ///   - onOpen: A closure that is called for each connection, for example to subscribe to topics. Its error ends the
  ///     connection. Messages that `WebSocketSession.send` holds back are sent after it completes.
  public func webSocket(
    _ endpoint: some Endpoint, options: WebSocketOptions = WebSocketOptions(), reconnect: RetryPolicy? = nil,
    onOpen: (@Sendable (WebSocket) -> Completable)? = nil
  ) -> WebSocketSession {
    let call = CallContent(endpoint)
    var reconnect = reconnect
    if let policy = reconnect { reconnect?.scheduler = policy.scheduler ?? backend.clock }
    // All connections of a subscription are those of the users who begin it.
    let begin: @Sendable () -> @Sendable (Response?) -> Single<WebSocket> = { [self] in
      var call = begun(call.overHTTP)
      if observers != nil { call.context[Resends.self] = Resends() }
      return { [self, call] closed in
        var call = call
        if let closed { call.context[ClosedSocket.self] = closed }
        return openSocket(call, options)
      }
    }
    return WebSocketSession(
      beginning: begin, reading: reading, reconnect: reconnect, after: options.reconnectingCloseCodes, onOpen: onOpen)
  }
}
