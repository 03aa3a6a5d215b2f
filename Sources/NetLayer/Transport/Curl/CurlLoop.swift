#if canImport(CCurl)
  import CCurl
  import Foundation

  /// The transport's thread: takes submissions, lets libcurl work, hands out results, watches the limits.
  // @unchecked Sendable: other threads reach `inbox` and wake `multi`; all else belongs to the loop's thread.
  final class CurlLoop: @unchecked Sendable {
    private let inbox = CurlInbox()
    private let multi: UnsafeMutableRawPointer
    private let caFile: String?
    private let maxBodySize: Int
    private let maxIdleHandles: Int

    private var queue: ConnectionQueue<CurlTransfer>
    private var live: [CurlTransfer] = []
    private var idle: [CurlHandle] = []
    private var lastLane: (origin: String, lane: ConnectionQueue<CurlTransfer>.Lane)?
    private var isEnding = false
    /// No limit can be reached before this point; then all are looked at.
    private var nextCheck = Deadline.never
    /// The time at the beginning of the turn: exact enough for limits, and cheaper than a call per callback.
    private(set) var now = Deadline.now()

    init?(_ configuration: CurlTransport.Configuration) {
      guard let multi = ccurl_multi_init() else { return nil }
      self.multi = multi
      caFile = configuration.caFile?.path ?? CurlLibrary.fallbackCAFile
      maxBodySize = configuration.maxBodySize
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
      let thread = Thread { [self] in run() }
      thread.name = "NetLayer.curl"
      thread.start()
    }

    // MARK: Called from any thread

    func submit(_ transfer: CurlTransfer) {
      guard inbox.submit(transfer) else {
        let error = NetworkError(
          kind: .cancelled, reason: "this CurlTransport was shut down before the request was sent; make a new one",
          request: transfer.request)
        DispatchQueue.global().async { transfer.finish(.failure(error)) }
        return
      }
      wake()
    }

    func cancel(_ transfer: CurlTransfer) {
      inbox.cancel(transfer)
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
        ccurl_multi_perform(multi)
        now = Deadline.now()
        deliverFinished()
        if now >= nextCheck { checkLimits() }
        sleep()
      }
      endAll()
    }

    private func takeInbox() {
      inbox.wakeUp()
      now = Deadline.now()
      inbox.takeAll(submitted: accept) { end($0, .failure(Self.cancelledError($0))) }
    }

    private func sleep() {
      guard inbox.fallAsleep() else { return }
      // libcurl shortens the wait to its own timers; one minute bounds what a missed wake-up could cost.
      let wait = nextCheck == .max ? 60_000 : nextCheck <= now ? 0 : (nextCheck - now + 999_999) / 1_000_000
      ccurl_multi_poll(multi, Int32(Swift.min(wait, 60_000)))
    }

    private func accept(_ transfer: CurlTransfer) {
      // Its cancellation may have come out of the inbox before it did.
      guard !transfer.isFinished else { return }
      transfer.index = live.count
      live.append(transfer)
      if let refusal = transfer.refusal {
        end(transfer, .failure(refusal))
        return
      }
      guard !isEnding else { return }
      nextCheck = Swift.min(nextCheck, transfer.totalDeadline)
      enqueue(transfer)
    }

    private func enqueue(_ transfer: CurlTransfer) {
      let lane = lane(for: transfer.hopURL)
      transfer.lane = lane
      if queue.admit(transfer, in: lane), !begin(transfer) { start(queue.finished(lane)) }
    }

    /// Starts what may run; what has ended while it waited makes room for the next.
    private func start(_ admitted: [CurlTransfer]) {
      var admitted = admitted
      var index = 0
      while index < admitted.count {
        let transfer = admitted[index]
        if !begin(transfer), let lane = transfer.lane { admitted += queue.finished(lane) }
        index += 1
      }
    }

    /// Hands a transfer to libcurl; `false` when there is nothing to run.
    private func begin(_ transfer: CurlTransfer) -> Bool {
      guard !transfer.isFinished, !isEnding else { return false }
      guard let handle = idle.popLast() ?? CurlHandle(caFile: caFile, maxBodySize: maxBodySize) else {
        end(transfer, .failure(CurlFailure.outOfMemory(transfer)))
        return false
      }
      do {
        try handle.prepare(transfer)
      } catch {
        retire(handle)
        end(transfer, .failure(error))
        return false
      }
      handle.startedAt = now
      transfer.handle = handle
      transfer.lastActivity = now
      nextCheck = Swift.min(nextCheck, Deadline.after(transfer.request.timeouts.idle, from: now))
      ccurl_multi_add(multi, handle.easy)
      return true
    }

    private func deliverFinished() {
      var code: Int32 = 0
      while let context = ccurl_multi_next_done(multi, &code) {
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        ccurl_multi_remove(multi, handle.easy)
        guard let transfer = handle.transfer else { continue }
        let outcome = outcome(of: transfer, handle, code)
        let isMultiplexed = transfer.isSecure && handle.spokeHTTP2
        release(transfer, handle, isMultiplexed: isMultiplexed)
        switch outcome {
        case .done(let result): end(transfer, result)
        case .hop(let next):
          transfer.hop = next
          transfer.hopURL = next.url.absoluteString
          transfer.hops += 1
          enqueue(transfer)
        }
      }
    }

    private enum Outcome {
      case done(Result<Response, NetworkError>)
      case hop(Request)
    }

    private func outcome(of transfer: CurlTransfer, _ handle: CurlHandle, _ code: Int32) -> Outcome {
      guard code == 0 else {
        return .done(
          .failure(CurlFailure.error(code, handle: handle, transfer: transfer, maxBodySize: maxBodySize)))
      }
      let status = handle.answer.status
      let headers = handle.answer.headers
      if status >= 300, status < 400 {
        switch RedirectPolicy.decide(
          original: transfer.request, hop: transfer.hop, status: status, headers: headers, hops: transfer.hops)
        {
        case .deliver: break
        case .follow(let next): return .hop(next)
        case .refuse(let error): return .done(.failure(error))
        }
      }
      return .done(
        .success(
          Response(
            request: transfer.request, url: transfer.hop.url, status: status, headers: headers,
            body: handle.answer.takeBody())))
    }

    /// Ends a transfer in whatever state it is; does nothing when it has ended.
    private func end(_ transfer: CurlTransfer, _ result: Result<Response, NetworkError>) {
      guard !transfer.isFinished else { return }
      if let handle = transfer.handle {
        ccurl_multi_remove(multi, handle.easy)
        release(transfer, handle, isMultiplexed: false)
      }
      if transfer.index >= 0 {
        let last = live.removeLast()
        if last !== transfer {
          live[transfer.index] = last
          last.index = transfer.index
        }
        transfer.index = -1
      }
      transfer.finish(result)
    }

    private func release(_ transfer: CurlTransfer, _ handle: CurlHandle, isMultiplexed: Bool) {
      transfer.handle = nil
      retire(handle)
      if let lane = transfer.lane { start(queue.finished(lane, multiplexed: isMultiplexed)) }
    }

    private func retire(_ handle: CurlHandle) {
      handle.release()
      if idle.count < maxIdleHandles, !isEnding { idle.append(handle) }
    }

    /// The lane of the URL's origin: neighbours in time mostly go to the same one.
    private func lane(for url: String) -> ConnectionQueue<CurlTransfer>.Lane {
      let bytes = url.utf8
      if let (origin, lane) = lastLane, bytes.starts(with: origin.utf8) {
        let end = bytes.index(bytes.startIndex, offsetBy: origin.utf8.count)
        if end == bytes.endIndex || bytes[end] == 0x2f { return lane }
      }
      let authority = bytes.firstIndex(of: 0x3a).flatMap { bytes.index($0, offsetBy: 3, limitedBy: bytes.endIndex) }
      let start = authority ?? bytes.startIndex
      let end = bytes[start...].firstIndex { $0 == 0x2f || $0 == 0x3f || $0 == 0x23 } ?? bytes.endIndex
      let origin = String(url[..<end])
      let lane = queue.lane(for: origin)
      lastLane = (origin, lane)
      return lane
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
        // Until the connection stands, libcurl watches the connect limit.
        let deadline = Deadline.after(
          limits.idle, from: handle.connectedAt.map { Swift.max($0, transfer.lastActivity) } ?? now)
        if now >= deadline {
          expired.append((transfer, CurlFailure.timeout(transfer, "idle", limits.idle)))
        } else {
          nextCheck = Swift.min(nextCheck, deadline)
        }
      }
      for (transfer, error) in expired { end(transfer, .failure(error)) }
    }

    private func endAll() {
      isEnding = true
      _ = queue.removeAll()
      inbox.end(accept)
      while let transfer = live.last {
        end(
          transfer,
          .failure(
            NetworkError(
              kind: .cancelled, reason: "the CurlTransport was shut down while the request was in flight",
              request: transfer.request)))
      }
      idle = []
      lastLane = nil
      ccurl_multi_cleanup(multi)
    }

    fileprivate static func cancelledError(_ transfer: CurlTransfer) -> NetworkError {
      NetworkError(kind: .cancelled, reason: "the caller cancelled the request", request: transfer.request)
    }
  }
#endif
