import PortableFoundation

/// The rules of every policy: limits, permitted targets, POST that becomes GET, credentials that another origin does not
/// receive.
extension RedirectPolicy {
  package enum Decision {
    /// Deliver the response to the caller.
    case deliver
    /// Send this request. The trail includes the redirect.
    case follow(Request, RedirectTrail)
    /// Fail, because following the redirect would violate a rule.
    case fail(NetworkError)
  }

  /// Returns the decision on a response with `status` and `headers` to `currentRequest`. `trail` contains the previous
  /// redirects, and `original` is the caller's request. `isUnixSocket` returns whether the transport connects to a Unix
  /// domain socket for a URL: only its own origin may redirect to it.
  package static func decide(
    original: Request, currentRequest: Request, status: Int, headers: HTTPHeaders, trail: RedirectTrail,
    isUnixSocket: (URL) -> Bool = { _ in false }
  ) -> Decision {
    guard [301, 302, 303, 307, 308].contains(status), let location = headers.values(of: "Location").first else {
      return .deliver
    }
    let policy = original.options.redirects
    guard policy.rule != .none else { return .deliver }
    let (url, from) = (currentRequest.url, currentRequest.url.absoluteString)
    func fail(_ reason: String) -> Decision {
      let response = Response(request: original, url: url, status: status, headers: headers, redirects: trail.redirects)
      return .fail(NetworkError(kind: .redirect, reason: reason, request: original, response: response))
    }
    let followed = policy.followed + trail.redirects.count
    let target = target(of: location, from: url)
    if let target, !policy.follows(Step(request: currentRequest, status: status, target: target, count: followed)) {
      return .deliver
    }
    guard followed < policy.limit else {
      return fail(
        "more than \(policy.limit) redirects, the last from \(from) to \(location); check the server for a redirect loop"
      )
    }
    guard let target, target.scheme != nil else {
      return fail("\(from) redirects to \(location.debugDescription), which is not a valid URL")
    }
    if let problem = policy.problem(of: target, at: location, from: url, isUnixSocket: isUnixSocket) {
      return fail("\(from) redirects to \(problem)")
    }
    var next = next(currentRequest, status: status, target: target, keepsMethod: policy.keepsMethod)
    next.passCookies(headers, from: url)
    if !next.body.isRepeatable {
      return fail("\(from) redirects to \(location), but the body can be sent only once; use a repeatable BodyStream")
    }
    // A loop may end: the response may depend on time, on the number of requests, or on cookies. The limit ends the others.
    return .follow(next, trail.adding(Response.Redirect(url: url, status: status, headers: headers)))
  }

  /// Returns `location` with the rule that forbids its URL, `target`; `nil` if a request may be sent to it.
  private func problem(of target: URL, at location: String, from url: URL, isUnixSocket: (URL) -> Bool) -> String? {
    let scheme = target.scheme?.lowercased()
    guard scheme == "http" || scheme == "https" else { return "\(location); only http and https are supported" }
    guard target.host?.isEmpty == false else { return "\(location.debugDescription), which has no host" }
    guard allowsDowngrade || scheme == "https" || url.scheme?.lowercased() == "http" else {
      return "\(location), from https to http, which is not followed; request the http URL directly"
    }
    // Services on such a socket trust everyone who can connect to it.
    guard Origin(url) == Origin(target) || !isUnixSocket(target) else {
      return "\(location), for which Configuration.addresses has a Unix domain socket; only requests of the caller are "
        + "sent to it from another origin, so request that URL directly"
    }
    // A server must not cause requests that a caller must not send.
    let failure = RequestCheck.failure(of: Request(url: target), url: target.absoluteString)
    return failure.map { "\(location.debugDescription): \($0.reason)" }
  }

  /// Resolves `location`. A target without a fragment inherits the fragment of `from` (RFC 9110 §10.2.2).
  private static func target(of location: String, from: URL) -> URL? {
    guard let target = URL(reference: location, from: from) else { return nil }
    let old = from.absoluteString
    guard let hash = old.firstIndex(of: "#"), !location.contains("#") else { return target }
    return URL(text: target.absoluteString + old[hash...]) ?? target
  }

  /// Returns the request to `target`: with the method and the body that `status` requires, and without credentials for
  /// another origin.
  private static func next(_ currentRequest: Request, status: Int, target: URL, keepsMethod: Bool) -> Request {
    var next = currentRequest
    next.url = target
    if changesToGet(status, currentRequest.method, keepsMethod: keepsMethod) {
      next.method = .get
      next.body = .none
      for field in currentRequest.headers where describesBody(field.name) { next.headers[field.name] = nil }
    }
    if Origin(currentRequest.url) != Origin(target) { next.removeCredentials() }
    return next
  }

  /// Returns whether a field describes the body, so that it is removed with it (RFC 9110 §15.4 and §10.1.1; Fetch,
  /// HTTP-redirect fetch, step 12).
  private static func describesBody(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasPrefix("content-")
      || [
        "digest", "repr-digest", "unencoded-digest", "etag", "last-modified", "expect", "trailer", "transfer-encoding",
      ].contains(name)
  }
}
