#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams

  /// One WebSocket through its phases: connecting, opening, open, closed.
  ///
  /// Any thread may call the methods of `WebSocketControl`. Everything else belongs to the loop's thread. Members that are
  /// not private are used by the extension.
  // @unchecked Sendable: the gate is atomic, and the inbox passes everything else to the loop's thread.
  final class CurlWebSocket: WebSocketControl, CurlOperation, @unchecked Sendable {
    enum Phase {
      case connecting
      case opening
      case open
      /// The close handshake is complete. The server has a short time to close the connection; otherwise a reset could
      /// overtake the close frame.
      case lingering
      case over
    }

    /// The maximum number of reads per turn of the loop, so that a fast WebSocket does not starve the others.
    private static let reads = 4

    let request: Request
    var needsTunnel: Bool { true }
    let limits: TimeLimits
    private(set) var currentRequest: Request
    private(set) var currentURL: String
    let options: WebSocketOptions
    let loop: CurlWebSocketLoop
    let gate = FlowGate()
    var receiver: WebSocketReceiver?
    var phase = Phase.connecting
    private var trail = RedirectTrail()
    var handle: CurlHandle?
    var descriptor: Int32 = -1
    /// The number of the connection, because another connection may reuse the descriptor later.
    var connection: UInt64 = 0
    var watched: Int32 = 0

    let submittedAt = Deadline.now()
    /// The start of the phase, or the time of the last received byte.
    var lastActivity: UInt64 = 0
    private var handshake: WebSocketHandshake?
    private(set) var opening = WebSocketOpening()
    var stateMachine: WebSocketProtocol?

    /// The bytes being written. They stay in place until they are sent, because TLS requires the same bytes again.
    var output: [UInt8] = []
    var offset = 0
    private var written: UInt64 = 0
    /// The completions of messages, each with the position after its last byte.
    var sends: [(end: UInt64, completion: @Sendable (NetworkError?) -> Void)] = []
    var firstSend = 0
    /// The error that prevents further writing. Data that the server sent earlier is still read.
    var writeFailure: CURLcode?

    /// Whether the loop must serve this WebSocket in its next turn, and the last turn in which it did.
    var isEager = false
    var turn: UInt64 = 0
    /// Whether the loop flushes this WebSocket after the commands of the turn.
    var isUnflushed = false

    init(_ request: Request, _ options: WebSocketOptions, _ receiver: WebSocketReceiver, loop: CurlWebSocketLoop) {
      (self.request, currentRequest, currentURL) = (request, request, request.url.absoluteString)
      limits = TimeLimits(request.timeouts)
      (self.options, self.receiver, self.loop) = (options, receiver, loop)
    }

    var hostAndPort: String { currentRequest.url.hostAndPort }

    /// Whether data is read through TLS, with the server or with a proxy.
    private var isInsideTLS = true

    // MARK: Any thread

    func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
      if !loop.post(.send(self, message, completion)) { CurlWebSockets.fail(notOpen, completion) }
    }

    func close(_ code: CloseCode, reason: String) { _ = loop.post(.close(self, code, reason)) }

    func resume() { if gate.resume() { _ = loop.post(.resume(self)) } }

    func dispose() { _ = loop.post(.cancel(self)) }

    // MARK: Connecting

    func begin() {
      if let problem = WebSocketHandshake.problem(of: request, options) { return fail(problem) }
      guard let handle = loop.makeHandle() else { return fail(CurlFailure.outOfMemory(self)) }
      phase = .connecting
      lastActivity = loop.now
      do {
        try handle.prepareWebSocket(currentRequest)
      } catch {
        return fail(error.about(request))
      }
      guard loop.connect(self, handle) == 0 else { return fail(CurlFailure.outOfMemory(self)) }
      self.handle = handle
      loop.look(at: deadline)
    }

    func connected(_ code: CURLcode) {
      guard let handle, phase == .connecting else { return }
      descriptor = code == CURLE_OK ? ccurl_easy_get_socket(handle.easy) : -1
      guard descriptor >= 0 else { return fail(CurlFailure.error(code, handle: handle, transfer: self)) }
      connection = ccurl_multi_connection(loop.multi, descriptor)
      isInsideTLS = isSecure || handle.route?.isSecure == true
      let handshake = WebSocketHandshake(
        options, offersCompression: options.compression && WebSocketDeflate.isAvailable)
      self.handshake = handshake
      opening = WebSocketOpening()
      output = handshake.head(
        of: currentRequest, cookies: currentRequest.jarCookies, userAgent: handle.configuration.userAgent)
      (offset, writeFailure) = (0, nil)
      phase = .opening
      lastActivity = loop.now
      flush()
      update()
    }

    // MARK: Reading

    func ready(_ what: Int32) {
      if what & Int32(CCURL_READABLE) != 0 { read() }
      if what & Int32(CCURL_WRITABLE) != 0 { flush() }
      update()
    }

    func read() {
      var count = 0
      while phase != .over, phase != .connecting, !isPaused {
        guard let handle else { return }
        guard count < Self.reads else { return loop.serveNextTurn(self) }
        count += 1
        switch handle.receive(into: loop.scratch) {
        case .bytes(let count):
          // A server that sends its head byte by byte must not prolong the opening.
          if phase == .open { lastActivity = loop.now }
          take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
          // Inside TLS, a short read does not mean that nothing is left.
          if count < loop.scratch.count, !isInsideTLS { return }
        case .wait:
          // After a failed write, only data that has already arrived is read.
          if let writeFailure { ended(writeFailure) }
          return
        case .end: return ended(writeFailure)
        case .failure(let code): return ended(code)
        }
      }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
      switch phase {
      case .opening:
        opening.feed(bytes)
        do {
          try follow(opening.next())
        } catch {
          fail(.parse, "the response from \(hostAndPort) is not valid: \(error.reason)")
        }
      case .open:
        stateMachine?.feed(bytes, at: loop.now)
        deliver()
      case .connecting, .lingering, .over: return
      }
    }

    func follow(_ step: WebSocketOpening.Step) {
      switch step {
      case .needsInput: return
      case .open(let headers, let rest): open(headers, rest)
      case .response(let status, let headers, let body): receiveOtherResponse(status, headers, body)
      }
    }

    private func open(_ headers: HTTPHeaders, _ rest: [UInt8]) {
      guard let handshake else { return }
      currentRequest.chosenOptions?.value.cookies?.store(headers, from: currentRequest.url)
      var compressor: WebSocketDeflate?
      do {
        let agreement = try handshake.check(headers)
        if agreement.compresses {
          compressor = WebSocketDeflate(resets: agreement.resetsCompression)
          if compressor == nil { return fail(CurlFailure.outOfMemory(self)) }
        }
      } catch {
        return fail(.socketClosed, "\(hostAndPort) did not open a WebSocket: \(error.reason)", code: error.code)
      }
      stateMachine = WebSocketProtocol(options, compressor: compressor, at: loop.now)
      phase = .open
      receiver?.response(
        Response(request: request, url: currentRequest.url, status: 101, headers: headers, redirects: trail.redirects))
      rest.withUnsafeBytes { stateMachine?.feed($0, at: loop.now) }
      deliver()
    }

    private func receiveOtherResponse(_ status: Int, _ headers: HTTPHeaders, _ body: Data) {
      currentRequest.chosenOptions?.value.cookies?.store(headers, from: currentRequest.url)
      var headers = headers
      // The schemes of WebSockets stand for those of HTTP (RFC 6455 §3).
      if let location = headers["Location"], ["ws:", "wss:"].contains(where: location.lowercased().hasPrefix) {
        headers["Location"] = "http" + location.dropFirst(2)
      }
      switch RedirectPolicy.decide(
        original: request, currentRequest: currentRequest, status: status, headers: headers, trail: trail,
        isUnixSocket: loop.configuration.directory.isUnixSocket)
      {
      case .fail(let error): fail(error)
      case .follow(let next, let trail):
        release()
        (currentRequest, currentURL, self.trail) = (next, next.url.absoluteString, trail)
        begin()
      case .deliver:
        let response = Response(
          request: request, url: currentRequest.url, status: status, headers: headers, body: body,
          redirects: trail.redirects)
        receiver?.response(response)
        fail(
          NetworkError(
            kind: .status, code: status,
            reason: "\(hostAndPort) responded with status \(status) instead of a WebSocket",
            request: request, response: response))
      }
    }

    private func deliver() {
      while phase == .open, !isPaused, let event = stateMachine?.next() { handle(event) }
      flush()
    }

    func handle(_ event: WebSocketProtocol.Event) {
      switch event {
      case .message(let message): if let receiver { _ = gate.deliver(message, to: receiver.message) }
      case .closed(let close): finish(.success(close), lingers: true)
      case .failed(let violation):
        let kind: NetworkError.Kind = violation.code == .tooLarge ? .tooLarge : .socketClosed
        let remedy = kind == .tooLarge ? "; raise WebSocketOptions.maxMessageSize" : "; check the server"
        finish(
          .failure(error(kind, "\(hostAndPort) sent an invalid message: \(violation.reason)\(remedy)", violation.code)),
          lingers: true)
      case .unresponsive:
        fail(
          .timeout,
          "\(hostAndPort) did not respond to a ping within \(options.pongTimeout.text) (WebSocketOptions.pongTimeout)"
        )
      }
    }

    /// Whether the caller has paused reading. Messages that arrive while the WebSocket closes are read and dropped.
    var isPaused: Bool { phase == .open && gate.isPaused && stateMachine?.isOpen == true }

    func continueAfterPause() {
      guard phase == .open else { return }
      stateMachine?.touch(at: loop.now)
      deliver()
      read()
      update()
    }

    /// Processes the end of the connection, by the server or by an error, after all its data has been read.
    private func ended(_ code: CURLcode?) {
      let cause = code.map { handle?.errorMessage($0) ?? "libcurl error \($0.rawValue)" }
      switch phase {
      case .lingering: release()
      case .opening:
        if let step = opening.ended() { return follow(step) }
        // Over TLS 1.3, a client certificate is refused only after the handshake.
        if let code, let handle { return fail(CurlFailure.error(code, handle: handle, transfer: self)) }
        fail(.connection, "\(hostAndPort) closed the connection before it responded; try again")
      case .open where stateMachine?.isOpen == false: finish(.success(WebSocketClose(code: .abnormal)), lingers: false)
      case .open:
        fail(.connection, "\(hostAndPort) closed the connection without a close frame\(cause.map { " (\($0))" } ?? "")")
      case .connecting, .over: return
      }
    }

    // MARK: Writing

    func write(_ message: WebSocketMessage, _ completion: @escaping @Sendable (NetworkError?) -> Void) {
      guard phase == .open, stateMachine?.isOpen == true, writeFailure == nil else { return completion(notOpen) }
      stateMachine?.send(message)
      sends.append((written + UInt64(output.count - offset) + UInt64(stateMachine?.outputCount ?? 0), completion))
      loop.flushSoon(self)
    }

    func beginClosing(_ code: CloseCode, _ reason: String) {
      switch phase {
      case .connecting, .opening: cancel("the socket to \(hostAndPort) was closed before it was open")
      case .open:
        stateMachine?.close(code, reason: reason, at: loop.now)
        deliver()
        read()
        update()
      case .lingering, .over: return
      }
    }

    func flush() {
      guard writeFailure == nil else {
        _ = stateMachine?.takeOutput()
        return
      }
      while let handle {
        if offset == output.count {
          output = stateMachine?.takeOutput() ?? []
          offset = 0
          guard !output.isEmpty else { break }
        }
        switch output.withUnsafeBytes({ handle.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }) {
        case .bytes(let count):
          offset += count
          written += UInt64(count)
          completeSends()
        case .wait, .end: return
        case .failure(let code): return writingFailed(code)
        }
      }
    }

    /// Processes a write error. A server that closes with unread data resets the connection. Data that it sent earlier,
    /// such as the reason, is read in the next turn, or after a pause.
    private func writingFailed(_ code: CURLcode) {
      guard phase != .lingering else { return release() }
      (writeFailure, output, offset) = (code, [], 0)
      loop.serveNextTurn(self)
    }

    private func completeSends() {
      while firstSend < sends.count, sends[firstSend].end <= written {
        let completion = sends[firstSend].completion
        firstSend += 1
        if firstSend == sends.count || firstSend >= 64 {
          sends.removeFirst(firstSend)
          firstSend = 0
        }
        completion(nil)
      }
    }

    private var notOpen: NetworkError {
      error(.connection, "the socket to \(hostAndPort) is not open, so the message was not sent")
    }
  }
#endif
