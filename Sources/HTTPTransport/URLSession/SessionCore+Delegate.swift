#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The methods of the session's delegate, which are called on the serial queue.
  extension SessionCore {
    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      if let transfer = transfers[ObjectIdentifier(dataTask)] {
        transfer.lastActivity = Deadline.now()
        transfer.response = response as? HTTPURLResponse
        if let http = transfer.response { decide(transfer, http) }
        // After the response head, the idle limit is shorter.
        watch(transfer)
      }
      if mayRespond(dataTask) { completionHandler(.allow) }
    }

    /// Returns whether a completion handler for `task` may be called. On Linux, calling it after the cancellation of
    /// the task is a fatal error ("Received callback for HTTP redirection, but we're not waiting for it").
    private func mayRespond(_ task: URLSessionTask) -> Bool {
      #if canImport(FoundationNetworking)
        transfers[ObjectIdentifier(task)] != nil
      #else
        true
      #endif
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard let transfer = transfers[ObjectIdentifier(dataTask)] else { return }
      transfer.lastActivity = Deadline.now()
      transfer.received += data.count
      // The body of a redirect that is followed is not delivered.
      guard transfer.redirect == nil else { return }
      guard transfer.take(data, maxBodySize: maxBodySize) else {
        let reason =
          "the body from \(transfer.hostAndPort) is larger than \(transfer.maxBodySize ?? maxBodySize) bytes; raise "
          + "Request.Options.maxBodySize, or URLSessionTransport.Configuration.maxBodySize for all requests"
        end(transfer, Self.error(.tooLarge, reason, transfer))
        return
      }
      pauseIfRequested(dataTask, transfer)
      transfer.report()
    }

    /// Suspends the task if the consumer has paused. On Linux, a resumed task would start over, so the task continues
    /// and the data is buffered.
    private func pauseIfRequested(_ task: URLSessionTask, _ transfer: SessionTransfer) {
      #if !canImport(FoundationNetworking)
        guard transfer.gate?.isPaused == true, !transfer.isSuspended else { return }
        transfer.isSuspended = true
        task.suspend()
      #endif
    }

    /// Continues after a pause.
    func proceed(_ transfer: SessionTransfer) {
      transfer.lastActivity = Deadline.now()
      transfer.rate.restart()
      if transfer.isSuspended {
        transfer.isSuspended = false
        transfer.task?.resume()
      }
      transfer.drain()
      if let task = transfer.task { pauseIfRequested(task, transfer) } else { hold(transfer) }
      watch(transfer)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      guard let transfer = transfers[ObjectIdentifier(task)] else { return }
      transfer.lastActivity = Deadline.now()
      transfer.noteSent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    // The session does not follow redirects: on Linux, it drops the body on 307 and sends Authorization to other hosts.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      transfers[ObjectIdentifier(task)]?.response = response
      if mayRespond(task) { completionHandler(nil) }
    }

    // Responses with status 401 are delivered like all others, because this transport stores no credentials. On Linux,
    // the session requests credentials after the body and then never completes, so this method delivers the response.
    // On Apple platforms, the challenges of TLS arrive here too.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      #if canImport(FoundationNetworking)
        guard let transfer = transfers[ObjectIdentifier(task)] else { return }
        transfer.response = transfer.response ?? challenge.failureResponse as? HTTPURLResponse
        guard transfer.response != nil else {
          completionHandler(.cancelAuthenticationChallenge, nil)
          return
        }
        _ = forget(transfer)
        deliver(transfer)
        task.cancel()
      #else
        guard let transfer = transfers[ObjectIdentifier(task)], let trust = settings.trust,
          let host = HostSpelling.host(of: transfer.currentRequest.url)
        else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        let (disposition, credential, failure) = trust.respond(to: challenge, host: host)
        completionHandler(disposition, credential)
        if let failure { end(transfer, failure.about(transfer.request)) }
      #endif
    }

    #if !canImport(FoundationNetworking)
      // Called before the task completes.
      func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        transfers[ObjectIdentifier(task)]?.sessionMetrics = SessionMetrics(metrics)
      }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let transfer = transfers[ObjectIdentifier(task)] else { return }
      if transfer.response == nil { transfer.response = task.response as? HTTPURLResponse }
      _ = forget(transfer)
      if let error {
        // On Linux, a connection that is closed within the body is reported as an unknown error.
        let cut = transfer.response.flatMap { SessionFailure.cutShort(transfer, $0) }
        transfer.finish(.failure(cut ?? SessionFailure.error(error, transfer)))
      } else {
        deliver(transfer)
      }
    }

    /// Delivers a complete response, or follows its redirect.
    private func deliver(_ transfer: SessionTransfer) {
      guard let http = transfer.response else {
        transfer.finish(
          .failure(
            Self.error(
              .connection, ConnectionProblem.closed.reason(ConnectionSides(server: transfer.hostAndPort)), transfer)))
        return
      }
      if let cut = SessionFailure.cutShort(transfer, http) {
        transfer.finish(.failure(cut))
        return
      }
      decide(transfer, http)
      switch transfer.redirect {
      case nil, .deliver:
        transfer.report(last: true)
        transfer.succeed(Self.headers(http))
        hold(transfer)
      case .follow(let next, let trail):
        transfer.follow(next, trail)
        run(transfer)
      case .fail(let error): transfer.finish(.failure(error))
      }
    }

    /// Processes the head, once: records a redirect, or delivers the head.
    private func decide(_ transfer: SessionTransfer, _ http: HTTPURLResponse) {
      guard !transfer.isDecided else { return }
      transfer.isDecided = true
      transfer.currentRequest.chosenOptions?.value.cookies?.store(Self.headers(http), from: transfer.currentRequest.url)
      let decision = RedirectPolicy.decide(
        original: transfer.request, currentRequest: transfer.currentRequest, status: http.statusCode,
        headers: Self.headers(http),
        trail: transfer.trail)
      if case .deliver = decision { transfer.deliverHead(Self.headers(http)) } else { transfer.redirect = decision }
    }

    /// Returns the header fields, sorted by name, because the order of a dictionary differs from run to run.
    private static func headers(_ response: HTTPURLResponse) -> HTTPHeaders {
      let fields = response.allHeaderFields.flatMap { key, value in
        let (name, value) = ("\(key)", ReceivedFields.plain("\(value)"))
        return (HTTPHeaders.same(name, "Set-Cookie") ? cookies(in: value) : [value]).map {
          HTTPHeaders.Field(name: name, value: $0)
        }
      }
      return HTTPHeaders(fields.sorted { $0.name < $1.name })
    }

    /// Splits joined `Set-Cookie` fields. A comma within a date is not followed by `name=` (RFC 6265 §3).
    private static func cookies(in joined: String) -> [String] {
      var cookies: [String] = []
      for piece in joined.split(separator: ",") {
        let name = piece.prefix { $0 != "=" && $0 != ";" }
        let isNew = name.endIndex < piece.endIndex && piece[name.endIndex] == "="
        if cookies.isEmpty || (isNew && RequestCheck.isToken(name.trimmingCharacters(in: .whitespaces))) {
          cookies.append(piece.trimmingCharacters(in: .whitespaces))
        } else {
          cookies[cookies.count - 1] += "," + piece
        }
      }
      return cookies
    }
  }
#endif
