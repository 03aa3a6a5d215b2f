import PortableFoundation

extension HAREntry {
  /// Returns the entries of a call through a transport: one for each redirect, and one for the result.
  package static func entries(
    of request: Request, _ result: Result<Response, NetworkError>, started: Date, redaction: Redaction
  ) -> [HAREntry] {
    let response = try? result.get()
    var (current, trail, entries) = (request, RedirectTrail(), [HAREntry]())
    for redirect in response?.redirects ?? [] {
      current.url = redirect.url
      let hop = Response(request: current, status: redirect.status, headers: redirect.headers)
      entries.append(HAREntry(current, .success(hop), started: started, redaction: redaction))
      let decision = RedirectPolicy.decide(
        original: request, currentRequest: current, status: redirect.status, headers: redirect.headers, trail: trail)
      if case .follow(let next, let longer) = decision { (current, trail) = (next, longer) }
    }
    if let response { current.url = response.url }
    var last = HAREntry(current, result, started: started, redaction: redaction)
    // They describe the coded body, which the recording does not contain.
    for name in ["Content-Encoding", "Content-Length", "Transfer-Encoding"] { last.responseHeaders[name] = nil }
    return entries + [last]
  }
}
