// The URLSession of Linux needs a libcurl with WebSockets, and reads without backpressure: there, CurlTransport has them.
#if HAS_URLSESSION && canImport(Darwin)
  import Foundation
  import Streams

  extension URLSessionTransport: SocketTransport {
    /// Opens a WebSocket; see `SocketTransport.connect`. Safe from any thread.
    ///
    /// `URLSessionWebSocketTask` does the work: it does not offer compression, and does not deliver the body of a response that
    /// refuses the socket. Redirects are followed as `Request.Options.redirects` says.
    public func connect(
      _ request: Request, options: SocketOptions, receiver: SocketReceiver
    ) -> any SocketControl {
      let socket = SessionSocket(request, options, receiver)
      socket.begin()
      return socket
    }
  }

  /// One WebSocket over a session of its own.
  ///
  /// Any thread may call what `SocketControl` has; all else happens on `queue`.
  // @unchecked Sendable: the gate is atomic, and everything else that changes belongs to the queue.
  final class SessionSocket: NSObject, SocketControl, URLSessionWebSocketDelegate, @unchecked Sendable {
    private let request: Request
    private var currentRequest: Request
    private var trail = RedirectTrail()
    private var cookiesSent: String?
    private let options: SocketOptions
    private let gate = FlowGate()
    private let queue = DispatchQueue(label: "NetLayer.URLSession.socket")
    private var receiver: SocketReceiver?
    private var session: URLSession?
    private var task: URLSessionWebSocketTask?
    private var isOpen = false
    private var isReceiving = false
    private var hasClosed = false
    /// When the server last spoke, and when a ping was sent that it has not responded to.
    private var lastInput: UInt64 = 0
    private var pingSentAt: UInt64?
    private var isWatching = false

    init(_ request: Request, _ options: SocketOptions, _ receiver: SocketReceiver) {
      (self.request, currentRequest, self.options, self.receiver) = (request, request, options, receiver)
    }

    // MARK: Any thread

    func begin() { queue.async { self.open() } }

    func send(_ message: SocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
      queue.async {
        guard let task = self.task, self.isOpen, !self.hasClosed else { return completion(self.notOpen) }
        let message: URLSessionWebSocketTask.Message =
          switch message {
          case .text(let text): .string(text)
          case .binary(let data): .data(data)
          }
        task.send(message) { error in completion(error.map { self.failure($0) }) }
      }
    }

    func close(_ code: CloseCode, reason: String) {
      queue.async {
        guard self.isOpen else {
          return self.finish(.failure(self.error(.cancelled, "the socket was closed before it was open")))
        }
        guard !self.hasClosed else { return }
        self.hasClosed = true
        self.task?.cancel(with: Self.code(code), reason: code.mayBeSent ? Data(reason.utf8.prefix(123)) : nil)
        self.after(SocketProtocol.closePatience) { $0.finish(.success(SocketClose(code: .abnormal))) }
        self.receive()
      }
    }

    func resume() {
      guard gate.resume() else { return }
      queue.async {
        if self.isOpen { self.touch() }
        self.receive()
      }
    }

    func dispose() {
      queue.async {
        self.task?.cancel(with: .normalClosure, reason: nil)
        self.finish(.failure(self.error(.cancelled, "the caller disposed the socket")), lingers: true)
      }
    }

    // MARK: The queue

    private func open() {
      guard receiver != nil else { return }
      if let problem = SocketHandshake.problem(of: request, options) { return finish(.failure(problem)) }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpShouldSetCookies = false
      configuration.httpCookieAcceptPolicy = .never
      configuration.urlCache = nil
      configuration.urlCredentialStorage = nil
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 1
      operations.underlyingQueue = queue
      session = URLSession(configuration: configuration, delegate: self, delegateQueue: operations)
      if request.timeouts.total > 0 {
        queue.asyncAfter(deadline: .now() + request.timeouts.total) { [weak self] in
          guard let self, !self.isOpen else { return }
          let limit = self.request.timeouts.total
          self.finish(.failure(self.error(.timeout, "the socket was not open after \(limit) s (Timeouts.total)")))
        }
      }
      start()
    }

    /// Asks the server of the current hop for a socket.
    private func start() {
      // With another scheme, URLSession raises an exception.
      let url = currentRequest.url.absoluteString
      let scheme = currentRequest.url.scheme?.lowercased() == "https" ? "wss" : "ws"
      guard let session, let colon = url.firstIndex(of: ":"), let socketURL = URL(string: scheme + url[colon...]) else {
        return finish(.failure(error(.invalidRequest, "the URL \(url) is not valid")))
      }
      var native = URLRequest(url: socketURL)
      native.timeoutInterval = request.timeouts.idle > 0 ? request.timeouts.idle + request.timeouts.connect : 1e9
      for field in currentRequest.headers { native.addValue(field.value, forHTTPHeaderField: field.name) }
      cookiesSent = currentRequest.jarCookies
      if let cookiesSent { native.setValue(cookiesSent, forHTTPHeaderField: "Cookie") }
      if !options.subprotocols.isEmpty {
        native.setValue(options.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
      }
      let task = session.webSocketTask(with: native)
      task.maximumMessageSize = options.maxMessageSize
      self.task = task
      task.resume()
    }

    /// Receives one message, and the next unless the client pauses.
    private func receive() {
      guard let task, isOpen, !isReceiving, receiver != nil, hasClosed || !gate.isPaused else { return }
      isReceiving = true
      task.receive { [weak self] result in
        guard let self else { return }
        self.queue.async {
          self.isReceiving = false
          // The delegate hears of the end.
          guard case .success(let message) = result else { return self.receiveFailed(result) }
          self.touch()
          if !self.hasClosed, let receiver = self.receiver, let message = Self.message(message) {
            _ = self.gate.deliver(message, to: receiver.message)
          }
          self.receive()
        }
      }
    }

    private func receiveFailed(_ result: Result<URLSessionWebSocketTask.Message, any Error>) {
      guard case .failure(let cause) = result, (cause as? POSIXError)?.code == .EMSGSIZE else { return }
      task?.cancel(with: .messageTooBig, reason: nil)
      finish(
        .failure(
          error(
            .tooLarge, "a message has more than \(options.maxMessageSize) bytes; raise SocketOptions.maxMessageSize",
            code: 1009)), lingers: true)
    }

    /// Notes that the server has spoken, or that the silence was the client's own.
    private func touch() {
      (lastInput, pingSentAt) = (Deadline.now(), nil)
      watch()
    }

    private var silenceLimit: UInt64 {
      pingSentAt.map { Deadline.after(options.pongTimeout, from: $0) }
        ?? Deadline.after(options.pingInterval, from: lastInput)
    }

    /// Sets the timer if there is none. It looks again when it fires, as messages may come by the thousand.
    private func watch() {
      let (now, limit) = (Deadline.now(), silenceLimit)
      guard !isWatching, limit != Deadline.never else { return }
      isWatching = true
      after(limit > now ? Double(limit - now) / 1e9 : 0) { me in
        me.isWatching = false
        me.checkSilence()
      }
    }

    /// Sends a ping behind a silence, and ends the socket behind another.
    private func checkSilence() {
      guard !hasClosed, let task else { return }
      let now = Deadline.now()
      guard now >= silenceLimit else { return watch() }
      guard pingSentAt != nil else {
        pingSentAt = now
        task.sendPing { [weak self] error in
          guard let self, error == nil else { return }
          self.queue.async { self.touch() }
        }
        return watch()
      }
      // While the client does not read, silence says nothing.
      if gate.isPaused { return touch() }
      finish(
        .failure(error(.timeout, "no pong came within \(options.pongTimeout) s (SocketOptions.pongTimeout)")))
    }

    private func after(_ seconds: Double, _ action: @escaping @Sendable (SessionSocket) -> Void) {
      queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
        if let self, self.receiver != nil { action(self) }
      }
    }

    /// Tells the caller of the end, once; the connection has a moment to send a close frame where it `lingers`.
    private func finish(_ result: Result<SocketClose, NetworkError>, lingers: Bool = false) {
      guard let receiver = receiver.take() else { return }
      let (task, session) = (task.take(), session.take())
      // The session holds its delegate until it is invalidated.
      if lingers {
        session?.finishTasksAndInvalidate()
        queue.asyncAfter(deadline: .now() + 1) { task?.cancel() }
      } else {
        session?.invalidateAndCancel()
      }
      receiver.closed(result)
    }

    // MARK: The delegate, on the queue

    func urlSession(
      _ session: URLSession, webSocketTask task: URLSessionWebSocketTask, didOpenWithProtocol name: String?
    ) {
      guard let receiver, !isOpen, task === self.task else { return }
      isOpen = true
      receiver.response(response(of: task.response as? HTTPURLResponse, status: 101))
      touch()
      receive()
    }

    func urlSession(
      _ session: URLSession, webSocketTask task: URLSessionWebSocketTask,
      didCloseWith code: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
      guard task === self.task else { return }
      let code = CloseCode(rawValue: UInt16(clamping: code.rawValue))
      let reason = reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
      finish(.success(SocketClose(code: code, reason: reason)), lingers: true)
    }

    // The session follows nothing: it would hand Authorization to other hosts, whatever the policy says.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
      if task === self.task, !isOpen { refused(response) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError cause: (any Error)?) {
      guard task === self.task else { return }
      if !isOpen, let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
        return refused(response)
      }
      if hasClosed { return finish(.success(SocketClose(code: .abnormal))) }
      finish(.failure(cause.map(failure) ?? error(.connection, "the connection ended without a close frame")))
    }

    /// The server responded with something else than a socket.
    private func refused(_ native: HTTPURLResponse) {
      let status = native.statusCode
      let response = response(of: native, status: status)
      switch RedirectPolicy.decide(
        original: request, currentRequest: currentRequest, status: status, headers: response.headers, trail: trail,
        cookies: cookiesSent)
      {
      case .refuse(let error): finish(.failure(error))
      case .follow(let next, let trail):
        task.take()?.cancel()
        (currentRequest, self.trail) = (next, trail)
        start()
      case .deliver:
        receiver?.response(response)
        finish(
          .failure(
            NetworkError(
              kind: .status, code: status, reason: "\(place) responded with status \(status) instead of a socket",
              request: request, response: response)))
      }
    }

    private func response(of native: HTTPURLResponse?, status: Int) -> Response {
      var headers = HTTPHeaders()
      for (name, value) in native?.allHeaderFields ?? [:] { headers.append("\(name)", "\(value)") }
      currentRequest.chosenOptions?.value.cookies?.store(headers, from: currentRequest.url)
      return Response(
        request: request, url: currentRequest.url, status: status, headers: headers, redirects: trail.redirects)
    }

    private var place: String { currentRequest.url.hostAndPort }

    private static func message(_ message: URLSessionWebSocketTask.Message) -> SocketMessage? {
      switch message {
      case .string(let text): .text(text)
      case .data(let data): .binary(data)
      @unknown default: nil
      }
    }

    private static func code(_ code: CloseCode) -> URLSessionWebSocketTask.CloseCode {
      URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue)) ?? .normalClosure
    }

    private func failure(_ cause: any Error) -> NetworkError {
      SessionFailure.error(cause, request: request)
    }

    private var notOpen: NetworkError { error(.connection, "the socket is not open, so the message was not sent") }

    private func error(_ kind: NetworkError.Kind, _ reason: String, code: Int? = nil) -> NetworkError {
      NetworkError(kind: kind, code: code, reason: "\(place): \(reason)", request: request)
    }
  }
#endif
