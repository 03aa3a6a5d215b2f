#if canImport(CCurl)
  import CCurl
  import Foundation

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

    var queue: ConnectionQueue<CurlTransfer>
    var live: [CurlTransfer] = []
    var idle: [CurlHandle] = []
    var lastLane: (origin: String, lane: ConnectionQueue<CurlTransfer>.Lane)?
    var isEnding = false
    /// Which turn of the loop it is, counted where libcurl gets to work.
    var turn: UInt64 = 0
    /// No limit can be reached before this point; then all are looked at.
    var nextCheck = Deadline.never
    /// The time at the beginning of the turn: exact enough for limits, and cheaper than a call per callback.
    private(set) var now = Deadline.now()

    init?(_ configuration: CurlTransport.Configuration) {
      guard let multi = ccurl_multi_init() else { return nil }
      self.multi = multi
      self.configuration = configuration
      maxIdleHandles = Swift.max(1, configuration.maxConnections)
      queue = ConnectionQueue(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections)
      func set(_ option: Int, _ value: Int) {
        ccurl_multi_set_long(multi, Int32(option), value)
      }
      set(CCURL_MULTI_PIPELINING, Int(CCURL_PIPE_MULTIPLEX))
      set(CCURL_MULTI_MAXCONNECTS, configuration.maxConnections)
      // The queue keeps to these limits already; libcurl's own make sure that idle connections count too.
      set(CCURL_MULTI_MAX_HOST_CONNECTIONS, Swift.max(1, configuration.maxConnectionsPerHost))
      set(CCURL_MULTI_MAX_TOTAL_CONNECTIONS, Swift.max(1, configuration.maxConnections))
    }

    func start() {
      let thread = Thread { [self] in
        // Foundation on Linux hands on no name given before the start, nor always one given behind it.
        ccurl_name_thread("NetLayer.curl")
        run()
      }
      thread.start()
    }

    // MARK: Called from any thread

    func submit(_ transfer: CurlTransfer) {
      guard inbox.submit(transfer) else {
        var error = NetworkError(
          kind: .cancelled, reason: "this CurlTransport was shut down before the request was sent; make a new one",
          request: transfer.request)
        error.metrics = transfer.metricsWithoutHandle
        transfer.refuse()
        DispatchQueue.global().async { [error] in transfer.finish(.failure(error)) }
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

    private func wake() { inbox.wakeIfAsleep { ccurl_multi_wakeup(multi) } }

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
        ccurl_multi_run(multi, inbox.fallAsleep() ? milliseconds(until: nextCheck) : 0)
        now = Deadline.now()
        deliverFinished()
        if now >= nextCheck { checkLimits() }
      }
      endAll()
    }

    private func takeInbox() {
      inbox.wakeUp()
      now = Deadline.now()
      inbox.takeAll(
        submitted: accept, cancelled: { end($0, .failure(Self.cancelledError($0))) },
        resumed: { transfer in
          // The silence so far was our own.
          transfer.lastActivity = now
          guard let handle = transfer.handle else { return }
          let code = handle.unpause()
          guard code != 0 else { return }
          end(transfer, .failure(failure(of: transfer, handle, code)))
        })
    }

    /// A minute at most, which bounds what a missed wake-up could cost.
    private func milliseconds(until time: UInt64) -> Int32 {
      let wait = time == Deadline.never ? 60_000 : time <= now ? 0 : (time - now + 999_999) / 1_000_000
      return Int32(Swift.min(wait, 60_000))
    }
  }

  // MARK: Limits and the end

  extension CurlLoop {
    private func checkLimits() {
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
        let sends = !transfer.hop.body.isEmpty
        if sends { transfer.noteSent(handle.bytesSent) }
        // Until the connection stands, libcurl watches the connect limit.
        let isSilent = transfer.gate?.isPaused != true && !handle.awaitsBody
        let deadline = Deadline.after(
          limits.idle, from: isSilent ? handle.connectedAt.map { Swift.max($0, transfer.lastActivity) } ?? now : now)
        if now >= deadline {
          expired.append((transfer, CurlFailure.timeout(transfer, "idle", limits.idle)))
        } else {
          nextCheck = Swift.min(nextCheck, deadline, sends ? nextLook(at: transfer) : .max)
        }
      }
      for (transfer, error) in expired { end(transfer, .failure(error)) }
    }

    /// When to look whether more of the body has gone: so that the end is a quarter late at most.
    func nextLook(at transfer: CurlTransfer) -> UInt64 {
      Deadline.after(transfer.request.timeouts.idle / 4, from: now)
    }

    private func endAll() {
      isEnding = true
      _ = queue.removeAll()
      inbox.end(accept)
      while let transfer = live.last {
        let reason =
          "the CurlTransport was shut down while the request to \(transfer.hop.url.hostAndPort) was in flight"
        end(transfer, .failure(NetworkError(kind: .cancelled, reason: reason, request: transfer.request)))
      }
      idle = []
      lastLane = nil
      ccurl_multi_cleanup(multi)
      if let share { ccurl_share_cleanup(share) }
    }

    static func cancelledError(_ transfer: CurlTransfer) -> NetworkError {
      let reason = "the caller cancelled the request to \(transfer.hop.url.hostAndPort)"
      return NetworkError(kind: .cancelled, reason: reason, request: transfer.request)
    }
  }
#endif
