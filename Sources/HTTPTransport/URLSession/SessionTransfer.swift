#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The state of one request in a session.
  // @unchecked Sendable: for the same reason as its superclass; the session's queue is the transport's thread.
  final class SessionTransfer: TransferState, @unchecked Sendable {
    private weak var core: SessionCore?
    var task: URLSessionDataTask?
    var response: HTTPURLResponse?
    /// Whether the head has been processed, and the redirect that it contains.
    var isDecided = false
    var redirect: RedirectPolicy.Decision?
    /// The body to send, if it was written to a file first.
    var spool: BodySpool?
    /// The writer of that file, until it is complete.
    var spooler: BodySpooler?
    var isSuspended = false
    /// The received data: the complete body, or the part that the consumer has not taken yet.
    private var body = Data()
    /// The successful response, delivered when the consumer has taken everything.
    private var success: Response?
    /// The number of the latest check of the limits, which replaces earlier ones.
    var watch = 0
    private var sendTotal: Int64?
    /// The uptime in nanoseconds at which the current task started, and the facts that the session states about it.
    var taskStartedAt: UInt64 = 0
    var sessionMetrics: SessionMetrics?

    init(
      _ request: Request, core: SessionCore, progress: ProgressHandler? = nil, receiver: StreamReceiver? = nil,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) {
      self.core = core
      super.init(request, progress: progress, receiver: receiver, completion: completion)
      lastActivity = submittedAt
    }

    override func didCancel() { core?.cancel(self) }
    override func didResume() { core?.resume(self) }

    func restart() {
      response = nil
      isDecided = false
      redirect = nil
      received = 0
      body = Data()
      sessionMetrics = nil
    }

    /// Delivers the head of the final response, if the caller receives it separately, and the buffered part of the
    /// body.
    func deliverHead(_ headers: HTTPHeaders) {
      guard let response else { return }
      deliverHead(response.statusCode, headers)
      drain()
    }

    /// Processes a chunk of the body. Returns `false` if the buffered data exceeds its limit.
    func take(_ data: Data, maxBodySize: Int) -> Bool {
      // Collected bodies, and data that a paused consumer has not taken, are in memory.
      let isCollected = gate == nil && self.maxBodySize != nil
      guard received <= self.maxBodySize ?? .max, isCollected || data.count <= maxBodySize - body.count else {
        return false
      }
      body.append(data)
      drain()
      return true
    }

    /// Delivers the buffered data to the consumer, and finishes the transfer if no data is left.
    func drain() {
      if isHeadDelivered, gate?.isPaused == false, !body.isEmpty, !isCancelled {
        let chunk = body
        body = Data()
        deliver(chunk)
      }
      if let success, body.isEmpty, !isCancelled { finish(.success(success)) }
    }

    func succeed(_ headers: HTTPHeaders) {
      deliverHead(headers)
      var result = Response(
        request: request, url: currentRequest.url, status: response?.statusCode ?? 0, headers: headers,
        metrics: metrics,
        redirects: trail.redirects)
      if gate == nil {
        result.body = body
        return finish(.success(result))
      }
      success = result
      drain()
    }

    func noteSent(_ sent: Int64, of sendTotal: Int64) {
      self.sent = sent
      self.sendTotal = sendTotal > 0 ? sendTotal : nil
      report()
    }

    func report(last: Bool = false) {
      guard reportsProgress else { return }
      let received = Int64(self.received)
      let expected = response?.expectedContentLength ?? -1
      report(
        TransferProgress(
          sent: sent, sendTotal: sendTotal ?? (last ? sent : nil), received: received,
          receiveTotal: last ? received : expected > 0 ? expected : nil), at: Deadline.now(), last: last)
    }

    private var metrics: TransferMetrics {
      let known = TransferMetrics(
        total: .nanoseconds(Deadline.now() - submittedAt), bytesSent: sent, bytesReceived: Int64(received),
        redirects: trail.redirects.count)
      guard let sessionMetrics else { return known }
      return sessionMetrics.metrics(after: .nanoseconds(taskStartedAt - submittedAt), adding: known)
    }

    override func finish(_ result: Result<Response, NetworkError>) {
      let result = result.mapError { error in
        var error = error
        error.metrics = metrics
        return error
      }
      spooler?.stop()
      (task, success, spool, spooler, body) = (nil, nil, nil, nil, Data())
      super.finish(result)
    }

    /// Returns the error of a limit that has expired at `now`; otherwise `nil`, and the time of the next check.
    func limit(at now: UInt64) -> (reached: NetworkError?, next: UInt64) {
      // The session does not report when the connection is established, so a missing limit for one phase disables both.
      let silence = response == nil ? Deadline.after(limits.connect, from: limits.head) : silenceLimit
      let total = Deadline.after(limits.attempt, from: submittedAt)
      let isPaused = gate?.isPaused == true
      let idle = Deadline.after(spooler == nil ? silence : Deadline.never, from: isPaused ? now : lastActivity)
      let moved = response == nil || isPaused ? nil : sent + Int64(received)
      let slowness = rate.deadline(moved, isHead: false, at: now)
      if now >= total {
        return (
          timeout(
            "did not complete the response within \(request.timeouts.attempt.text) (Timeouts.attempt)"),
          total
        )
      }
      if now >= idle {
        let name =
          response == nil
          ? "Timeouts.connect + Timeouts.idle"
          : silence == limits.idle
            ? nameOfSilence(true) : "the limit of streams over URLSession; pass a longer silence"
        return (timeout("sent no data for \(Duration.nanoseconds(silence).text) (\(name))"), idle)
      }
      if now >= slowness { return (rate.error(self), slowness) }
      return (nil, Swift.min(total, idle, slowness))
    }

    /// The limit after the head. The session does not detect that a connection is lost, so a stream that may be silent has a
    /// limit, too.
    private var silenceLimit: UInt64 {
      limits.idle == Deadline.never && request.context[MayBeSilent.self] != nil ? Self.longestSilence : limits.idle
    }

    /// 10 minutes: far more than the 15 to 60 s after which servers usually send a comment.
    private static let longestSilence: UInt64 = 600_000_000_000

    private func timeout(_ what: String) -> NetworkError {
      NetworkError(
        kind: .timeout, reason: "\(hostAndPort) \(what); raise the limit or check the server", request: request)
    }
  }
#endif
