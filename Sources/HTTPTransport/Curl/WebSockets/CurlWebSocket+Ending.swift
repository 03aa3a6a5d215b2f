#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlWebSocket {
    /// The time in nanoseconds that the server has to close the connection.
    private static let lingering: UInt64 = 1_000_000_000

    /// The next time to check the WebSocket.
    var deadline: UInt64 {
      switch phase {
      case .connecting:
        return Swift.min(
          Deadline.after(limits.attempt, from: submittedAt), Deadline.after(limits.connect, from: lastActivity))
      case .opening:
        return Swift.min(
          Deadline.after(limits.attempt, from: submittedAt), Deadline.after(limits.idle, from: lastActivity))
      case .open: return stateMachine?.deadline ?? Deadline.never
      case .lingering: return Deadline.after(Self.lingering, from: lastActivity)
      case .over: return Deadline.never
      }
    }

    func checkLimits() {
      if loop.now >= deadline { expire() }
      update()
    }

    private func expire() {
      switch phase {
      case .connecting where loop.now >= Deadline.after(limits.connect, from: lastActivity):
        fail(CurlFailure.connectTimeout(self, handle))
      case .opening where opening.hasHead: if let step = opening.ended() { follow(step) }
      case .opening where loop.now >= Deadline.after(limits.idle, from: lastActivity):
        fail(
          .timeout,
          "\(hostAndPort) did not open the socket within \(request.timeouts.idle.text) (Timeouts.idle)"
        )
      case .connecting, .opening:
        fail(
          .timeout,
          "\(hostAndPort) did not open the socket within \(request.timeouts.attempt.text) (Timeouts.attempt)"
        )
      case .open:
        // If the process was suspended, the WebSocket may already contain the awaited data.
        if !isPaused, stateMachine?.isOpen == true { read() }
        // Reads `stateMachine`, and therefore not within a change of it.
        let isPaused = isPaused
        if phase == .open, let event = stateMachine?.expire(at: loop.now, isPaused: isPaused) { handle(event) }
        flush()
      case .lingering: release()
      case .over: return
      }
    }

    /// Ends the WebSocket immediately, with a close frame if it is open and the system accepts one.
    func cancel(_ reason: String, _ code: CloseCode = .normal) {
      guard phase != .over else { return }
      if phase == .open {
        stateMachine?.close(code, at: loop.now)
        flush()
      }
      if phase != .over { finish(.failure(error(.cancelled, reason)), lingers: false) }
    }

    func fail(_ kind: NetworkError.Kind, _ reason: String, code: CloseCode? = nil) {
      fail(error(kind, reason, code))
    }

    func fail(_ error: NetworkError) { finish(.failure(error), lingers: false) }

    func error(_ kind: NetworkError.Kind, _ reason: String, _ code: CloseCode? = nil) -> NetworkError {
      NetworkError(kind: kind, code: code.map { Int($0.rawValue) }, reason: reason, request: request)
    }

    /// Reports the end to the caller, once.
    func finish(_ result: Result<WebSocketClose, NetworkError>, lingers: Bool) {
      guard phase != .over else { return }
      let receiver = receiver.take()
      phase = lingers ? .lingering : .over
      lastActivity = loop.now
      if lingers { flush() } else { release() }
      let ending = error(.connection, "the socket to \(hostAndPort) was closed before the message was sent")
      if case .success(let close) = result, close.code != .abnormal {
        // The server's close code informs senders why the message was not sent.
        failSends(NetworkError.closing(close, of: request) ?? ending)
      } else {
        failSends(ending)
      }
      receiver?.closed(result)
    }

    private func failSends(_ error: NetworkError) {
      let left = sends[firstSend...]
      (sends, firstSend) = ([], 0)
      for send in left { send.completion(error) }
    }

    func release() {
      if phase == .lingering { phase = .over }
      if let handle = handle.take() {
        if descriptor >= 0 { ccurl_multi_leave(loop.multi, descriptor, connection, CurlLibrary.leavesConnectionsOpen) }
        loop.release(handle)
      }
      (descriptor, watched) = (-1, 0)
      (output, offset) = ([], 0)
      if phase == .over {
        stateMachine = nil
        loop.remove(self)
      }
    }

    /// Tells the loop which events the WebSocket waits for, and until when.
    func update() {
      loop.look(at: deadline)
      // The end is detected only after the pause, which may last until the send returns.
      if writeFailure != nil, isPaused {
        failSends(error(.connection, "the connection to \(hostAndPort) was lost before the message was sent"))
      }
      guard descriptor >= 0, phase != .connecting else { return }
      let events =
        (isPaused ? 0 : Int32(CCURL_READABLE)) | (offset < output.count ? Int32(CCURL_WRITABLE) : 0)
      guard events != watched else { return }
      watched = events
      ccurl_multi_use(loop.multi, descriptor, connection, Unmanaged.passUnretained(self).toOpaque(), events)
    }
  }
#endif
