#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// What the session reports; all of it on the serial queue.
  extension SessionCore {
    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      if let flight = flights[dataTask.taskIdentifier] {
        flight.lastActivity = Deadline.now()
        flight.response = response as? HTTPURLResponse
        if let http = flight.response { decide(flight, http) }
        // From here on the allowed silence is shorter.
        watch(flight)
      }
      if mayAnswer(dataTask) { completionHandler(.allow) }
    }

    /// Whether a question of the session's about `task` may be answered: on Linux an answer that comes behind the task's
    /// cancellation is a fatal error ("Received callback for HTTP redirection, but we're not waiting for it").
    private func mayAnswer(_ task: URLSessionTask) -> Bool {
      #if canImport(FoundationNetworking)
        flights[task.taskIdentifier] != nil
      #else
        true
      #endif
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard let flight = flights[dataTask.taskIdentifier] else { return }
      flight.lastActivity = Deadline.now()
      flight.received += data.count
      // A redirect that is followed has no reader.
      guard flight.redirect == nil else { return }
      guard flight.take(data, maxBodySize: maxBodySize) else {
        let reason =
          "the body from \(flight.place) is larger than \(flight.maxBodySize ?? maxBodySize) bytes; raise "
          + "Request.Options.maxBodySize, or URLSessionTransport.Configuration.maxBodySize for all requests"
        end(flight, Self.error(.tooLarge, reason, flight))
        return
      }
      pauseIfAsked(dataTask, flight)
      flight.report()
    }

    /// On Linux a task that is resumed starts over, so it is left alone there, and what comes in is kept.
    private func pauseIfAsked(_ task: URLSessionTask, _ flight: SessionFlight) {
      #if !canImport(FoundationNetworking)
        guard flight.gate?.isPaused == true, !flight.isSuspended else { return }
        flight.isSuspended = true
        task.suspend()
      #endif
    }

    /// Goes on behind a pause.
    func goOn(_ flight: SessionFlight) {
      flight.lastActivity = Deadline.now()
      if flight.isSuspended {
        flight.isSuspended = false
        flight.task?.resume()
      }
      flight.drain()
      if let task = flight.task { pauseIfAsked(task, flight) } else { hold(flight) }
      watch(flight)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      guard let flight = flights[task.taskIdentifier] else { return }
      flight.lastActivity = Deadline.now()
      flight.noteSent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    // The session follows nothing: on Linux it loses the body on 307 and hands Authorization to other hosts.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      flights[task.taskIdentifier]?.response = response
      if mayAnswer(task) { completionHandler(nil) }
    }

    // No credentials are kept here: a 401 is an answer like any other. On Linux the session asks behind the body and
    // then never completes, so the answer is delivered from here.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      #if canImport(FoundationNetworking)
        guard let flight = flights[task.taskIdentifier] else { return }
        flight.response = flight.response ?? challenge.failureResponse as? HTTPURLResponse
        guard flight.response != nil else {
          completionHandler(.cancelAuthenticationChallenge, nil)
          return
        }
        _ = forget(flight)
        deliver(flight)
        task.cancel()
      #else
        completionHandler(.performDefaultHandling, nil)
      #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let flight = flights[task.taskIdentifier] else { return }
      if flight.response == nil { flight.response = task.response as? HTTPURLResponse }
      _ = forget(flight)
      if let error {
        // Linux reports a connection closed in the body as an unknown error.
        let cut = flight.response.flatMap { SessionFailure.cutShort(flight, $0) }
        flight.finish(.failure(cut ?? SessionFailure.error(error, flight)))
      } else {
        deliver(flight)
      }
    }

    /// Passes a complete answer on, or goes to the next hop.
    private func deliver(_ flight: SessionFlight) {
      guard let http = flight.response else {
        flight.finish(
          .failure(
            Self.error(.connection, "\(flight.place) closed the connection without an answer; try again", flight)))
        return
      }
      if let cut = SessionFailure.cutShort(flight, http) {
        flight.finish(.failure(cut))
        return
      }
      decide(flight, http)
      switch flight.redirect {
      case nil, .deliver:
        flight.report(last: true)
        flight.succeed(Self.headers(http))
        hold(flight)
      case .follow(let next, let trail):
        flight.follow(next, trail)
        run(flight)
      case .refuse(let error): flight.finish(.failure(error))
      }
    }

    /// Looks at the head, once: whether it leads elsewhere, or is the caller's.
    private func decide(_ flight: SessionFlight, _ http: HTTPURLResponse) {
      guard !flight.isDecided else { return }
      flight.isDecided = true
      flight.hop.chosenOptions?.value.cookies?.store(Self.headers(http), from: flight.hop.url)
      let decision = RedirectPolicy.decide(
        original: flight.request, hop: flight.hop, status: http.statusCode, headers: Self.headers(http),
        trail: flight.trail, cookies: flight.cookiesSent)
      if case .deliver = decision { flight.deliverHead(Self.headers(http)) } else { flight.redirect = decision }
    }

    /// Sorted, because a dictionary's order differs from run to run.
    private static func headers(_ response: HTTPURLResponse) -> HTTPHeaders {
      let fields = response.allHeaderFields.flatMap { key, value in
        let (name, value) = ("\(key)", ReceivedFields.plain("\(value)"))
        return (HTTPHeaders.same(name, "Set-Cookie") ? cookies(in: value) : [value]).map {
          HTTPHeaders.Field(name: name, value: $0)
        }
      }
      return HTTPHeaders(fields.sorted { $0.name < $1.name })
    }

    /// Takes joined `Set-Cookie` fields apart: a comma within a date is not followed by `name=` (RFC 6265 §3).
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
