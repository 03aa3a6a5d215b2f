#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation
  import Streams
  import Synchronization

  /// The event loop of the transport, on its own thread. It accepts requests, drives libcurl, delivers results and
  /// enforces limits.
  // @unchecked Sendable: other threads use only `inbox` and wake `multi`; everything else belongs to the loop's thread.
  ///
  /// Members that are not private are used by the loop's extensions.
  final class CurlLoop: CurlThread, @unchecked Sendable {
    let inbox = CurlInbox()
    let maxIdleHandles: Int

    var queue: HostQueue
    var live: [CurlTransfer] = []
    var idle: [CurlHandle] = []
    var lastLane: (origin: Origin, lane: HostQueue.Lane)?
    var isEnding = false

    /// The jobs of tasks that prefer this thread.
    var jobs = Queue<UnownedJob>()
    /// Whether there are any.
    var hasJobs = false
    /// The identity of the loop's thread while it runs, else 0. Only that thread writes it. Another thread reads a number
    /// that is not its own.
    let thread = Atomic<UInt>(0)
    /// The transfers whose response began before their body was sent.
    private var early: [CurlTransfer] = []
    /// The transfers that continue to decode their input in the next turn.
    private var resting: [CurlTransfer] = []
    /// Whether the last check of the limits found an upload over HTTP/2.
    var isUploadingOverHTTP2 = false
    /// The transfers to end with the `endCode` of their handle.
    private var toEnd: [CurlTransfer] = []
    /// The queue on which requests submitted after the end fail. It is serial, because callers may block the global
    /// queues.
    private static let failureQueue = DispatchQueue(label: "NetLayer.failures")

    override init?(_ configuration: CurlTransport.Configuration) {
      maxIdleHandles = Swift.max(1, configuration.maxConnections)
      queue = HostQueue(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections)
      super.init(configuration)
      func set(_ option: ccurl_multi_option, _ value: Int) { ccurl_multi_set_long(multi, option, value) }
      set(CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX)
      set(CURLMOPT_MAXCONNECTS, configuration.maxConnections)
      // The queue already enforces these limits. libcurl's own limits also count idle connections.
      set(CURLMOPT_MAX_HOST_CONNECTIONS, Swift.max(1, configuration.maxConnectionsPerHost))
      set(CURLMOPT_MAX_TOTAL_CONNECTIONS, Swift.max(1, configuration.maxConnections))
    }

    // MARK: Called from any thread

    func submit(_ transfer: CurlTransfer) {
      let isForked = ccurl_is_forked()
      guard !isForked, inbox.submit(transfer) else {
        var error = NetworkError(
          kind: isForked ? .invalidRequest : .cancelled,
          reason: isForked
            ? "the transport has no thread after a fork; create the transport in the child process"
            : "this CurlTransport was shut down before the request was sent; create a new one",
          request: transfer.request)
        error.metrics = transfer.metricsWithoutHandle
        transfer.ignoreDisposal()
        // A child process has no threads but this one.
        if isForked { return transfer.finish(.failure(error)) }
        Self.failureQueue.async { [error] in transfer.finish(.failure(error)) }
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

    func wake() { inbox.waker.wakeIfAsleep { ccurl_multi_wakeup(multi) } }

    // MARK: The loop's thread

    override func run() {
      thread.store(Self.currentThread, ordering: .relaxed)
      while !inbox.isClosing {
        // Before the inbox is taken, so that what the jobs submit leaves in the same turn.
        if hasJobs || inbox.hasJobs { runJobs() }
        takeInbox()
        turn &+= 1
        let timeout = resting.isEmpty && !hasJobs ? milliseconds(until: nextCheck) : 0
        ccurl_multi_wait(multi, inbox.fallAsleep() ? timeout : 0)
        // Entries added during this turn, for example by completions, are taken by the next turn without a wake-up.
        inbox.waker.wakeUp()
        // Reads the time before any input, because input that arrives later did not precede the wait.
        now = Deadline.now()
        work()
        if now >= nextCheck { checkLimits() }
      }
    }

    override func endAll() {
      isEnding = true
      queue.removeAll()
      inbox.end(accept) { jobs.append($0.job) }
      while let transfer = live.last {
        let reason =
          "the CurlTransport was shut down while the request to \(transfer.hostAndPort) was in flight"
        end(transfer, .failure(NetworkError(kind: .cancelled, reason: reason, request: transfer.request)))
      }
      idle = []
      lastLane = nil
      early = []
      resting = []
      toEnd = []
      handOverJobs()
      cleanUp()
    }

    func work() {
      ccurl_multi_work(multi)
      now = Deadline.now()
      deliverFinished()
      if !early.isEmpty { deliverEarly() }
      if !toEnd.isEmpty { endNoted() }
    }

    private func takeInbox() {
      now = Deadline.now()
      inbox.takeAll(
        submitted: accept, cancelled: { end($0, .failure(Self.cancelledError($0))) },
        resumed: continueAfterPause)
      for transfer in exchange(&resting, with: []) where transfer.handle?.reception.isResting == true {
        continueAfterPause(transfer)
      }
    }

    private func continueAfterPause(_ transfer: CurlTransfer) {
      // The server was not silent; the client was paused.
      transfer.lastActivity = now
      transfer.rate.restart()
      guard let handle = transfer.handle else { return }
      let code = handle.unpause()
      if code != CURLE_OK {
        end(transfer, .failure(failure(of: transfer, handle, code)))
      } else if let held = handle.reception.heldCode, !handle.holdsContent {
        finish(transfer, handle, held)
      }
    }
  }

  // MARK: Events that libcurl does not report

  extension CurlLoop {
    func noteEarlyResponse(_ transfer: CurlTransfer) { early.append(transfer) }

    /// Finishes transfers whose response is complete while their body is still being sent. The server will send nothing
    /// more (RFC 9112 §9.3, RFC 9113 §8.1), but libcurl would continue to send.
    private func deliverEarly() {
      // The end of a transfer may begin another one, so the list is not in use meanwhile.
      for transfer in exchange(&early, with: []) {
        guard let handle = transfer.handle, handle.reception.heldCode == nil, handle.response.isHeadComplete else {
          continue
        }
        if handle.isResponseComplete { finish(transfer, handle, CURLE_OK) } else { early.append(transfer) }
      }
    }

    /// Continues to decode the input of `transfer` in the next turn.
    func decodeNextTurn(_ transfer: CurlTransfer) { resting.append(transfer) }

    /// Ends `transfer`, whose handle has an `endCode`, after libcurl's callback has returned.
    func noteToEnd(_ transfer: CurlTransfer) { toEnd.append(transfer) }

    private func endNoted() {
      for transfer in exchange(&toEnd, with: []) {
        guard let handle = transfer.handle, let code = handle.attempt.endCode, handle.reception.heldCode == nil else {
          continue
        }
        finish(transfer, handle, code)
      }
    }

  }

  // MARK: Limits and the end

  extension CurlLoop {
    private func checkLimits() {
      if findExpired().isEmpty {
        return prodUploads()
      }
      // If the process was suspended, its sockets may already contain the awaited data.
      ccurl_multi_wait(multi, 0)
      work()
      for (transfer, error) in findExpired() {
        // No request follows a silent one on its connection.
        if transfer.mayMultiplex, let handle = transfer.handle { ccurl_multi_distrust(multi, handle.connectionData) }
        end(transfer, .failure(error))
      }
    }

    private func findExpired() -> [(CurlTransfer, NetworkError)] {
      nextCheck = Deadline.never
      isUploadingOverHTTP2 = false
      var expired: [(CurlTransfer, NetworkError)] = []
      for transfer in live {
        if now >= transfer.totalDeadline {
          expired.append(
            (transfer, CurlFailure.timeout(transfer, "Timeouts.attempt", transfer.request.timeouts.attempt)))
          continue
        }
        nextCheck = Swift.min(nextCheck, transfer.totalDeadline)
        guard let handle = transfer.handle else { continue }
        let sends = !transfer.currentRequest.body.isEmpty
        if sends {
          transfer.noteSent(handle.bytesSent)
          isUploadingOverHTTP2 = isUploadingOverHTTP2 || transfer.mayMultiplex
        }
        let (silence, error) = silenceLimit(of: transfer, handle)
        let slowness = transfer.rate.deadline(
          handle.movedBytes, isHead: !handle.response.isHeadComplete, at: now)
        if now >= silence {
          expired.append((transfer, error()))
        } else if now >= slowness {
          expired.append((transfer, transfer.rate.error(transfer)))
        } else {
          nextCheck = Swift.min(nextCheck, silence, slowness, sends ? nextLook(at: transfer) : .max)
        }
      }
      return expired
    }

    /// Returns the deadline for the silence of a running transfer, and the error to report.
    private func silenceLimit(
      of transfer: CurlTransfer, _ handle: CurlHandle
    ) -> (deadline: UInt64, error: () -> NetworkError) {
      guard let connected = handle.connectedAt else {
        // libcurl's clock does not run while a request waits for another request's handshake with the host.
        return (
          Deadline.after(transfer.limits.connect, from: handle.attempt.startedAt),
          { CurlFailure.connectTimeout(transfer, transfer.handle) }
        )
      }
      let last = handle.isOurTurn ? now : Swift.max(connected, transfer.lastActivity, handle.lastInput)
      let hasHead = handle.response.isHeadComplete
      let limit = hasHead ? transfer.limits.idle : transfer.limits.head
      return (
        Deadline.after(limit, from: last),
        { CurlFailure.timeout(transfer, transfer.nameOfSilence(hasHead), .nanoseconds(limit)) }
      )
    }

    /// Returns the next time to check the upload's progress, so that a timeout is at most a quarter of the limit late.
    /// Over HTTP/2, libcurl needs attention, too; see `prodUploads`.
    func nextLook(at transfer: CurlTransfer) -> UInt64 {
      let limit = Swift.min(transfer.limits.idle, transfer.limits.head)
      let span = limit == Deadline.never ? Deadline.never : limit / 4
      return Deadline.after(transfer.mayMultiplex ? Swift.min(Self.prodInterval, span) : span, from: now)
    }

    static func cancelledError(_ transfer: CurlTransfer) -> NetworkError {
      let reason = "the caller cancelled the request to \(transfer.hostAndPort)"
      return NetworkError(kind: .cancelled, reason: reason, request: transfer.request)
    }
  }
#endif
