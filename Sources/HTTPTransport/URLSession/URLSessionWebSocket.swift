// URLSession on Linux needs a libcurl with WebSockets, and reads without backpressure. There, CurlTransport supports
// them.
#if HAS_URLSESSION && canImport(Darwin)
  import Foundation
  import Streams

  extension URLSessionTransport: WebSocketTransport {
    /// Opens a WebSocket; see `WebSocketTransport.connect`. Safe from any thread.
    ///
    /// The implementation uses `URLSessionWebSocketTask`, which does not offer compression, and does not deliver the
    /// body of a response that rejects the socket. Redirects follow `Request.Options.redirects`. The settings of the
    /// transport apply.
    public func connect(
      _ request: Request, options: WebSocketOptions, receiver: WebSocketReceiver
    ) -> any WebSocketControl {
      let socket = URLSessionWebSocket(request, options, receiver, core.settings)
      socket.begin()
      return socket
    }
  }

  /// One WebSocket with its own session, which therefore shares no connection with another host.
  ///
  /// Any thread may call the methods of `WebSocketControl`. Everything else runs on `queue`.
  // @unchecked Sendable: the gate is atomic, and all other mutable state belongs to the queue.
  final class URLSessionWebSocket: NSObject, WebSocketControl, URLSessionWebSocketDelegate, @unchecked Sendable {
    private let request: Request
    private var currentRequest: Request
    private var trail = RedirectTrail()
    private let options: WebSocketOptions
    private let settings: SessionSettings
    private let gate = FlowGate()
    private let queue = DispatchQueue(label: "NetLayer.URLSession.socket")
    private var receiver: WebSocketReceiver?
    private var session: URLSession?
    private var task: URLSessionWebSocketTask?
    private var isOpen = false
    private var isReceiving = false
    private var hasClosed = false
    /// The time of the last input, and the time of a ping that the server has not responded to.
    private var lastInput: UInt64 = 0
    private var pingSentAt: UInt64?
    private var isWatching = false

    init(
      _ request: Request, _ options: WebSocketOptions, _ receiver: WebSocketReceiver, _ settings: SessionSettings
    ) {
      (self.request, currentRequest, self.options, self.receiver) = (request, request, options, receiver)
      self.settings = settings
    }

    // MARK: Any thread

    func begin() { queue.async { self.open() } }

    func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
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
        self.after(self.options.closeTimeout.inSeconds) {
          $0.finish(.success(WebSocketClose(code: .abnormal)))
        }
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
      if let failure = settings.failure { return finish(.failure(failure.about(request))) }
      if let problem = WebSocketHandshake.problem(of: request, options) { return finish(.failure(problem)) }
      session = settings.makeSession(delegate: self, queue: queue)
      if let limit = request.timeouts.attempt {
        queue.asyncAfter(deadline: .now() + limit.dispatchSeconds) { [weak self] in
          guard let self, !self.isOpen else { return }
          self.finish(
            .failure(self.error(.timeout, "the socket was not opened within \(limit.text) (Timeouts.attempt)")))
        }
      }
      start()
    }

    private func start() {
      // URLSession raises an exception for any other scheme.
      let url = currentRequest.url.absoluteString
      let scheme = currentRequest.url.scheme?.lowercased() == "https" ? "wss" : "ws"
      guard let session, let colon = url.firstIndex(of: ":"), let socketURL = URL(text: scheme + url[colon...]) else {
        return finish(.failure(error(.invalidRequest, "the URL \(url) is not valid")))
      }
      var native = URLRequest(url: socketURL)
      if let idle = request.timeouts.idle, let connect = request.timeouts.connect {
        native.timeoutInterval = min(idle.inSeconds + connect.inSeconds, 1e9)
      } else {
        native.timeoutInterval = 1e9
      }
      for field in currentRequest.headers { native.addValue(field.value, forHTTPHeaderField: field.name) }
      if let cookies = currentRequest.jarCookies { native.setValue(cookies, forHTTPHeaderField: "Cookie") }
      if !options.subprotocols.isEmpty {
        native.setValue(options.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
      }
      let task = session.webSocketTask(with: native)
      task.maximumMessageSize = options.maxMessageSize
      self.task = task
      task.resume()
    }

    /// Receives one message, and then the next unless the client has paused.
    private func receive() {
      guard let task, isOpen, !isReceiving, receiver != nil, hasClosed || !gate.isPaused else { return }
      isReceiving = true
      task.receive { [weak self] result in
        guard let self else { return }
        self.queue.async {
          self.isReceiving = false
          // The delegate receives the end of the connection.
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
            .tooLarge,
            "a message is larger than \(options.maxMessageSize) bytes; raise WebSocketOptions.maxMessageSize",
            code: 1009)), lingers: true)
    }

    /// Restarts the idle measurement after input or after the client has paused.
    private func touch() {
      (lastInput, pingSentAt) = (Deadline.now(), nil)
      watch()
    }

    private var silenceLimit: UInt64 {
      pingSentAt.map { Deadline.after(Deadline.span(options.pongTimeout), from: $0) }
        ?? Deadline.after(Deadline.span(options.pingInterval), from: lastInput)
    }

    /// Starts the timer unless it runs. It checks the limit again when it fires, because thousands of messages may
    /// arrive meanwhile.
    private func watch() {
      let (now, limit) = (Deadline.now(), silenceLimit)
      guard !isWatching, limit != Deadline.never else { return }
      isWatching = true
      after(limit > now ? Double(limit - now) / 1e9 : 0) { me in
        me.isWatching = false
        me.checkSilence()
      }
    }

    /// Sends a ping if no data has arrived for the limit, and ends the socket if none arrives for another one.
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
      // While the client is paused, missing data from the server is not an error.
      if gate.isPaused { return touch() }
      finish(
        .failure(
          error(
            .timeout,
            "no pong arrived within \(options.pongTimeout.text) (WebSocketOptions.pongTimeout)")))
    }

    private func after(_ seconds: Double, _ action: @escaping @Sendable (URLSessionWebSocket) -> Void) {
      queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
        if let self, self.receiver != nil { action(self) }
      }
    }

    /// Reports the end to the caller, once. If `lingers` is `true`, the connection has a short time to send a close
    /// frame.
    private func finish(_ result: Result<WebSocketClose, NetworkError>, lingers: Bool = false) {
      guard let receiver = receiver.take() else { return }
      let (task, session) = (task.take(), session.take())
      // The session retains its delegate until it is invalidated.
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
      finish(.success(WebSocketClose(code: code, reason: reason)), lingers: true)
    }

    // The session does not follow redirects, because it would send Authorization to other hosts regardless of the
    // policy.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
      if task === self.task, !isOpen { receiveOtherResponse(response) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard task === self.task, let trust = settings.trust, let host = HostSpelling.host(of: currentRequest.url) else {
        return completionHandler(.cancelAuthenticationChallenge, nil)
      }
      let (disposition, credential, failure) = trust.respond(to: challenge, host: host)
      completionHandler(disposition, credential)
      if let failure { finish(.failure(failure.about(request))) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError cause: (any Error)?) {
      guard task === self.task else { return }
      if !isOpen, let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
        return receiveOtherResponse(response)
      }
      if hasClosed { return finish(.success(WebSocketClose(code: .abnormal))) }
      finish(.failure(cause.map(failure) ?? error(.connection, "the connection was closed without a close frame")))
    }

    private func receiveOtherResponse(_ native: HTTPURLResponse) {
      let status = native.statusCode
      let response = response(of: native, status: status)
      switch RedirectPolicy.decide(
        original: request, currentRequest: currentRequest, status: status, headers: response.headers, trail: trail)
      {
      case .fail(let error): finish(.failure(error))
      case .follow(let next, let trail):
        task.take()?.cancel()
        (currentRequest, self.trail) = (next, trail)
        start()
      case .deliver:
        receiver?.response(response)
        finish(
          .failure(
            NetworkError(
              kind: .status, code: status,
              reason: "\(hostAndPort) responded with status \(status) instead of a WebSocket",
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

    private var hostAndPort: String { currentRequest.url.hostAndPort }

    private static func message(_ message: URLSessionWebSocketTask.Message) -> WebSocketMessage? {
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
      NetworkError(kind: kind, code: code, reason: "\(hostAndPort): \(reason)", request: request)
    }
  }
#endif
