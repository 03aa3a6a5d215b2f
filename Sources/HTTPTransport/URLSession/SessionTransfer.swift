#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// One request on its way through a session.
  // @unchecked Sendable: as its superclass says; the session's queue is the transport's thread.
  final class SessionTransfer: TransferState, @unchecked Sendable {
    private weak var core: SessionCore?
    /// The `Cookie` field of the jar's that the hop was sent with.
    var cookiesSent: String?
    var task: URLSessionDataTask?
    var response: HTTPURLResponse?
    /// Whether the head has been looked at, and where it leads to if that is elsewhere.
    var isDecided = false
    var redirect: RedirectPolicy.Decision?
    /// The body to send, where it had to go to a file first.
    var spool: BodySpool?
    /// What writes that, while no server can answer.
    var spooler: BodySpooler?
    /// Whether the task was suspended.
    var isSuspended = false
    /// What has arrived: the whole body, or what the consumer has not taken yet.
    private var body = Data()
    /// The success that waits until the consumer has taken everything.
    private var success: Response?
    /// Which look at the limits is the newest: an older one has been overtaken.
    var watch = 0
    private var toSend: Int64?

    init(
      _ request: Request, core: SessionCore, progress: ProgressHandler? = nil, receiver: ResponseReceiver? = nil,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) {
      self.core = core
      super.init(request, progress: progress, receiver: receiver, completion: completion)
      lastActivity = submittedAt
    }

    override func didCancel() { core?.cancel(self) }
    override func didResume() { core?.resume(self) }

    /// Gets ready for the next hop.
    func restart() {
      response = nil
      isDecided = false
      redirect = nil
      received = 0
      body = Data()
    }

    /// Hands on the head of the response that is the caller's, where it is waited for, and what has come of the body.
    func deliverHead(_ headers: HTTPHeaders) {
      guard let response else { return }
      deliverHead(response.statusCode, headers)
      drain()
    }

    /// Takes a piece of the body; `false` when what is kept grows larger than allowed.
    func take(_ data: Data, maxBodySize: Int) -> Bool {
      // What is collected, or what a paused consumer has not taken, is in memory.
      let isCollected = gate == nil && self.maxBodySize != nil
      guard received <= self.maxBodySize ?? .max, isCollected || data.count <= maxBodySize - body.count else {
        return false
      }
      body.append(data)
      drain()
      return true
    }

    /// Hands the body's consumer what it takes, and ends when that was the last.
    func drain() {
      if isHeadDelivered, gate?.isPaused == false, !body.isEmpty, !isCancelled {
        let chunk = body
        body = Data()
        deliver(chunk)
      }
      if let success, body.isEmpty, !isCancelled { finish(.success(success)) }
    }

    /// Ends with the response that has come in.
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

    /// Notes what the session says of the request's body.
    func noteSent(_ sent: Int64, of toSend: Int64) {
      self.sent = sent
      self.toSend = toSend > 0 ? toSend : nil
      report()
    }

    /// Reports how far it is.
    func report(last: Bool = false) {
      guard reportsProgress else { return }
      let received = Int64(self.received)
      let expected = response?.expectedContentLength ?? -1
      report(
        TransferProgress(
          sent: sent, toSend: toSend ?? (last ? sent : nil), received: received,
          toReceive: last ? received : expected > 0 ? expected : nil), at: Deadline.now(), last: last)
    }

    private var metrics: TransferMetrics {
      TransferMetrics(
        total: Double(Deadline.now() - submittedAt) / 1e9, bytesSent: sent, bytesReceived: Int64(received),
        redirects: trail.redirects.count)
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

    /// The limit reached at `now`, if any, and else when to look again.
    func limit(at now: UInt64) -> (reached: NetworkError?, next: UInt64) {
      let limits = request.timeouts
      // The session does not tell when a connection stands: no limit for a part means none for both.
      let isLimited = response != nil || limits.connect > 0
      let silence = isLimited && limits.idle > 0 ? limits.idle + (response == nil ? limits.connect : 0) : 0
      let total = Deadline.after(limits.total, from: submittedAt)
      let idle = Deadline.after(spooler == nil ? silence : 0, from: gate?.isPaused == true ? now : lastActivity)
      if now >= total {
        return (timeout("had not answered completely after \(limits.total) s (Timeouts.total)"), total)
      }
      if now >= idle {
        let name = response == nil ? "Timeouts.connect + Timeouts.idle" : "Timeouts.idle"
        return (timeout("was silent for \(silence) s (\(name))"), idle)
      }
      return (nil, Swift.min(total, idle))
    }

    private func timeout(_ what: String) -> NetworkError {
      NetworkError(
        kind: .timeout, reason: "\(place) \(what); raise it or look at the server", request: request)
    }
  }
#endif
