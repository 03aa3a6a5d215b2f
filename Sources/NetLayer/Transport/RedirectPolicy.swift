import Foundation

/// The rules for redirects, the same in every transport (RFC 9110 §15.4; the Fetch standard's HTTP-redirect fetch).
enum RedirectPolicy {
  /// Browsers allow 20, libcurl's tool 50, URLSession 16: ten hops are more than any sound API takes.
  static let limit = 10

  enum Decision {
    /// The response is what the caller gets.
    case deliver
    /// Send this next.
    case follow(Request)
    /// Going on would break a rule.
    case refuse(NetworkError)
  }

  /// What to do with an answer of `status` and `headers` to `hop`, the request as it was last sent; `hops` redirects
  /// have been followed before, and `original` is what the caller asked for.
  static func decide(
    original: Request, hop: Request, status: Int, headers: HTTPHeaders, hops: Int
  ) -> Decision {
    guard [301, 302, 303, 307, 308].contains(status), let location = headers.values(of: "Location").first else {
      return .deliver
    }
    func refuse(_ reason: String) -> Decision {
      .refuse(
        NetworkError(
          kind: .redirect, reason: reason, request: original,
          response: Response(request: original, url: hop.url, status: status, headers: headers)))
    }
    let from = hop.url.absoluteString
    guard hops < limit else {
      return refuse("more than \(limit) redirects, the last from \(from) to \(location); look for a loop on the server")
    }
    guard let target = URL(string: location, relativeTo: hop.url)?.absoluteURL, let scheme = target.scheme?.lowercased()
    else { return refuse("\(from) redirects to \(location.debugDescription), which is no URL") }
    guard scheme == "http" || scheme == "https" else {
      return refuse("\(from) redirects to \(location): only http and https are followed")
    }
    guard target.host?.isEmpty == false else {
      return refuse("\(from) redirects to \(location.debugDescription), which names no host")
    }
    guard !(scheme == "http" && hop.url.scheme?.lowercased() == "https") else {
      return refuse("\(from) redirects to \(location): from https to http is not followed; call the http URL yourself")
    }
    var next = hop
    next.url = target
    if changesToGet(status, hop.method) {
      next.method = .get
      next.body = .none
      // What described the body goes with it (Fetch, HTTP-redirect fetch, step 12).
      for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
        next.headers[name] = nil
      }
    }
    if !sameOrigin(hop.url, target) {
      next.headers["Host"] = nil
      // A back end's tokens have many names: what is too secret for a log is too secret for another origin.
      for field in hop.headers where Redaction.standard.hides(field.name) { next.headers[field.name] = nil }
      // So has what a back end sends by itself, but for what every server may know.
      for field in hop.ownFields where !isHarmless(field.name) { next.headers[field.name] = nil }
    }
    return .follow(next)
  }

  /// 301 and 302 turn POST into GET, as all browsers do (RFC 9110 §15.4.2 note); 303 turns all but HEAD into GET.
  private static func changesToGet(_ status: Int, _ method: HTTPMethod) -> Bool {
    switch status {
    case 301, 302: method == .post
    case 303: method != .head && method != .get
    default: false
    }
  }

  private static func isHarmless(_ name: String) -> Bool {
    ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"].contains(name.lowercased())
  }

  /// Scheme, host and port (RFC 6454 §4).
  static func sameOrigin(_ a: URL, _ b: URL) -> Bool {
    func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
    return a.scheme?.lowercased() == b.scheme?.lowercased() && a.host?.lowercased() == b.host?.lowercased()
      && port(a) == port(b)
  }
}
