#if canImport(CCurl)
  import CCurl
  import PortableFoundation
  import Streams

  /// The transport's thread: takes submissions, lets libcurl work, hands out results, watches the limits.
  // @unchecked Sendable: other threads reach `inbox` and wake `multi`; all else belongs to the loop's thread.
  ///
  /// What is not private here belongs to the loop's own extensions.
  final class CurlLoop: @unchecked Sendable {
    let inbox = CurlInbox()
    let multi: OpaquePointer
    let share = ccurl_share_init()
    let configuration: CurlTransport.Configuration
    let maxIdleHandles: Int

    var queue: HostQueue
    var live: [CurlTransfer] = []
    var idle: [CurlHandle] = []
    /// Those that no transfer needs, but libcurl may come back to (`CurlHandle.isRemembered`).
    var remembered: [CurlHandle] = []
    var lastLane: (origin: String, lane: HostQueue.Lane)?
    var isEnding = false
    /// Which turn of the loop it is, counted where libcurl gets to work.
    var turn: UInt64 = 0
    /// No limit can be reached before this point; then all are looked at.
    var nextCheck = Deadline.never
    /// The time at the beginning of the turn: exact enough for limits, and cheaper than a call per callback.
    private(set) var now = Deadline.now()

    /// Who waits for the end. Taken by any thread and, once, by the loop; the actions are called behind it.
    private let end = Locked((isOver: false, actions: [@Sendable () -> Void]()))
    /// What is asked of the loop's state; `nil` behind its end. Any thread appends, the loop takes all; answered behind it.
    private let questions = Locked<[@Sendable (CurlTransport.Gauges) -> Void]?>([])
    /// Those whose response has begun before their body was sent.
    private var early: [CurlTransfer] = []
    /// Transfers to end with their handle's `endCode`.
    private var toEnd: [CurlTransfer] = []
    /// Connections that the server has ended, and the turn in which transfers that are still on them are ended, too.
    private var ended: [(connection: UInt64, turn: UInt64)] = []
    var http2 = HTTP2Watch()

    /// Where requests end that come after the end: a serial queue, as callers may block the threads of all others.
    private static let refusals = DispatchQueue(label: "NetLayer.refusals")

    init?(_ configuration: CurlTransport.Configuration) {
      guard let multi = ccurl_multi_init() else {
        if let share { ccurl_share_cleanup(share) }
        return nil
      }
      self.multi = multi
      self.configuration = configuration
      maxIdleHandles = Swift.max(1, configuration.maxConnections)
      queue = HostQueue(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections)
      func set(_ option: Int, _ value: Int) {
        ccurl_multi_set_long(multi, Int32(option), value)
      }
      set(CCURL_MULTI_PIPELINING, Int(CCURL_PIPE_MULTIPLEX))
      set(CCURL_MULTI_MAXCONNECTS, configuration.maxConnections)
      // The queue keeps to these limits already; libcurl's own make sure that idle connections count too.
      set(CCURL_MULTI_MAX_HOST_CONNECTIONS, Swift.max(1, configuration.maxConnectionsPerHost))
      set(CCURL_MULTI_MAX_TOTAL_CONNECTIONS, Swift.max(1, configuration.maxConnections))
    }

    /// Starts the thread; what the system says where there can be none.
    func start() -> Int32 {
      let me = Unmanaged.passRetained(self)
      let code = ccurl_start_thread(
        "NetLayer.curl", { context in context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run() } },
        me.toOpaque())
      if code != 0 {
        me.release()
        endAll()
      }
      return code
    }

    // MARK: Called from any thread

    func submit(_ transfer: CurlTransfer) {
      let isForked = ccurl_is_forked()
      guard !isForked, inbox.submit(transfer) else {
        var error = NetworkError(
          kind: isForked ? .invalidRequest : .cancelled,
          reason: isForked
            ? "this process is a child of fork without exec, which has no thread of the CurlTransport; call exec"
            : "this CurlTransport was shut down before the request was sent; make a new one",
          request: transfer.request)
        error.metrics = transfer.metricsWithoutHandle
        transfer.refuse()
        Self.refusals.async { [error] in transfer.finish(.failure(error)) }
        return
      }
      wake()
    }

    func cancel(_ transfer: CurlTransfer) {
      inbox.cancel(transfer)
      wake()
    }

    func resume(_ transfer: CurlTransfer) {
      inbox.resume(transfer)
      wake()
    }

    func shutDown() {
      inbox.close()
      wake()
    }

    /// Calls `action` when the loop has ended, on its thread, or at once where it has.
    func whenEnded(_ action: @escaping @Sendable () -> Void) {
      let hasEnded = end.withLock { end in
        if !end.isOver { end.actions.append(action) }
        return end.isOver
      }
      if hasEnded { action() }
    }

    /// Calls `answer` with the state of the loop, on its thread; immediately if it has ended.
    func ask(_ answer: @escaping @Sendable (CurlTransport.Gauges) -> Void) {
      let isAsked = questions.withLock { questions in
        questions?.append(answer)
        return questions != nil
      }
      // The loop's thread does not exist in a child of fork.
      guard isAsked, !ccurl_is_forked() else { return answer(CurlTransport.Gauges()) }
      inbox.ask()
      wake()
    }

    private func wake() { inbox.waker.wakeIfAsleep { ccurl_multi_wakeup(multi) } }

    // MARK: The loop's thread

    private func run() {
      // A TLS library writes without MSG_NOSIGNAL; blocked, SIGPIPE stays with this thread and does nothing.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      while !inbox.shallClose {
        takeInbox()
        turn &+= 1
        let patience = ended.contains { $0.turn >= turn } ? 0 : milliseconds(until: nextCheck)
        ccurl_multi_wait(multi, inbox.fallAsleep() ? patience : 0)
        // Before anything is read: what comes now did not come before the wait.
        now = Deadline.now()
        work()
        if now >= nextCheck { checkLimits() }
      }
      endAll()
    }

    private func work() {
      ccurl_multi_work(multi)
      now = Deadline.now()
      deliverFinished()
      if !early.isEmpty { deliverEarly() }
      if !toEnd.isEmpty { endNoted() }
      while case let connection = ccurl_multi_next_end(multi), connection > 0 { noteEnd(of: connection) }
      if !ended.isEmpty { endOthers() }
    }

    private func takeInbox() {
      inbox.waker.wakeUp()
      now = Deadline.now()
      inbox.takeAll(
        submitted: accept, cancelled: { end($0, .failure(Self.cancelledError($0))) },
        resumed: { transfer in
          // The silence so far was our own.
          transfer.lastActivity = now
          guard let handle = transfer.handle else { return }
          let code = handle.unpause()
          if code != 0 {
            end(transfer, .failure(failure(of: transfer, handle, code)))
          } else if let held = handle.heldCode, !handle.holdsContent {
            finish(transfer, handle, held)
          }
        })
      if inbox.takeQuestions() { answer() }
    }

    private func answer() {
      let asked = questions.withLock { questions in
        defer { questions = [] }
        return questions ?? []
      }
      let gauges = gauges
      for answer in asked { answer(gauges) }
    }

    /// A minute at most, which bounds what a missed wake-up could cost.
    private func milliseconds(until time: UInt64) -> Int32 {
      let wait = time == Deadline.never ? 60_000 : time <= now ? 0 : (time - now + 999_999) / 1_000_000
      return Int32(Swift.min(wait, 60_000))
    }
  }

  // MARK: What libcurl does not say by itself

  extension CurlLoop {
    func noteEarlyResponse(_ transfer: CurlTransfer) { early.append(transfer) }

    /// Ends those whose response is complete while their body is still being sent: the server has said all it will
    /// (RFC 9112 §9.3, RFC 9113 §8.1), and libcurl would send on.
    private func deliverEarly() {
      early.removeAll { transfer in
        guard let handle = transfer.handle, handle.heldCode == nil, handle.answer.isHeadComplete else { return true }
        guard handle.isResponseComplete else { return false }
        finish(transfer, handle, 0)
        return true
      }
    }

    /// Ends `transfer`, whose handle has an `endCode`, after libcurl's callback has returned.
    func noteToEnd(_ transfer: CurlTransfer) { toEnd.append(transfer) }

    private func endNoted() {
      let transfers = toEnd
      toEnd = []
      for transfer in transfers {
        guard let handle = transfer.handle, let code = handle.endCode, handle.heldCode == nil else { continue }
        finish(transfer, handle, Int32(code))
      }
    }

    /// Notes that the server has ended a connection. libcurl 7.88 tells one of the HTTP/2 transfers on it, and leaves the
    /// others without a word; first it may end them itself, or send them again.
    private func noteEnd(of connection: UInt64) {
      guard !ended.contains(where: { $0.connection == connection }) else { return }
      ended.append((connection, turn &+ 2))
    }

    /// Ends what is still on a connection of which nothing more can be read. What a pause holds back comes first.
    private func endOthers() {
      ended.removeAll { connection, due in
        guard due <= turn else { return false }
        var isInUse = false
        for transfer in live where transfer.mayMultiplex {
          guard let handle = transfer.handle, handle.heldCode == nil, handle.place.pointee.connection == connection
          else { continue }
          let isOver =
            !ccurl_multi_is_open(multi, handle.place) || ccurl_multi_end(multi, handle.place) != CCURL_END_NONE
          if handle.isHeld || handle.isPaused || !isOver {
            isInUse = true
          } else {
            finish(transfer, handle, Int32(CCURL_RECEIVE_ERROR))
          }
        }
        return !isInUse
      }
    }
  }

  // MARK: Limits and the end

  extension CurlLoop {
    private func checkLimits() {
      if findExpired().isEmpty { return }
      // The process may have been stopped, with the bytes that were waited for in its sockets.
      ccurl_multi_wait(multi, 0)
      work()
      for (transfer, error) in findExpired() { end(transfer, .failure(error)) }
    }

    private func findExpired() -> [(CurlTransfer, NetworkError)] {
      nextCheck = Deadline.never
      var expired: [(CurlTransfer, NetworkError)] = []
      for transfer in live {
        let limits = transfer.request.timeouts
        if now >= transfer.totalDeadline {
          expired.append((transfer, CurlFailure.timeout(transfer, "total", limits.total)))
          continue
        }
        nextCheck = Swift.min(nextCheck, transfer.totalDeadline)
        guard let handle = transfer.handle else { continue }
        let sends = !transfer.currentRequest.body.isEmpty
        if sends { transfer.noteSent(handle.bytesSent) }
        let (deadline, error) = silenceLimit(of: transfer, handle)
        if now >= deadline {
          expired.append((transfer, error()))
        } else {
          nextCheck = Swift.min(nextCheck, deadline, sends ? nextLook(at: transfer) : .max)
        }
      }
      return expired
    }

    /// When the silence of a transfer that libcurl runs reaches its limit.
    private func silenceLimit(
      of transfer: CurlTransfer, _ handle: CurlHandle
    ) -> (deadline: UInt64, error: () -> NetworkError) {
      let limits = transfer.request.timeouts
      guard let connected = handle.connectedAt else {
        // libcurl's own clock stands while a request waits for another's handshake with the host.
        return (
          Deadline.after(limits.connect, from: handle.startedAt),
          { CurlFailure.connectTimeout(transfer) }
        )
      }
      let isOurs = handle.isHeld || handle.isPaused || handle.isWaitingToSend
      // Bytes that libcurl keeps to itself, as of a long line or a chunk's extension; those of others on HTTP/2 count not.
      let input = handle.isAlone ? UInt64(Swift.max(0, ccurl_multi_last_input(multi, handle.place))) : 0
      let last = isOurs ? now : Swift.max(connected, transfer.lastActivity, input)
      return (
        Deadline.after(limits.idle, from: last), { CurlFailure.timeout(transfer, "idle", limits.idle) }
      )
    }

    /// When to look whether more of the body has gone: so that the end is a quarter late at most.
    func nextLook(at transfer: CurlTransfer) -> UInt64 {
      Deadline.after(transfer.request.timeouts.idle / 4, from: now)
    }

    fileprivate func endAll() {
      isEnding = true
      queue.removeAll()
      inbox.end(accept)
      while let transfer = live.last {
        let reason =
          "the CurlTransport was shut down while the request to \(transfer.place) was in flight"
        end(transfer, .failure(NetworkError(kind: .cancelled, reason: reason, request: transfer.request)))
      }
      idle = []
      lastLane = nil
      early = []
      toEnd = []
      ccurl_multi_cleanup(multi)
      remembered = []
      if let share { ccurl_share_cleanup(share) }
      let asked = questions.withLock { $0.take() }
      for answer in asked ?? [] { answer(CurlTransport.Gauges()) }
      let actions = end.withLock { end in
        defer { end = (true, []) }
        return end.actions
      }
      for action in actions { action() }
    }

    static func cancelledError(_ transfer: CurlTransfer) -> NetworkError {
      let reason = "the caller cancelled the request to \(transfer.place)"
      return NetworkError(kind: .cancelled, reason: reason, request: transfer.request)
    }
  }
#endif
