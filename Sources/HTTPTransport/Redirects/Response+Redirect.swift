import PortableFoundation

extension Response {
  /// A redirect that was followed before the final response.
  public struct Redirect: Sendable, Equatable {
    /// The URL that responded with the redirect.
    public var url: URL
    /// The status of that response: 301, 302, 303, 307 or 308.
    public var status: Int
    /// The header fields of that response, including `Location`.
    public var headers: HTTPHeaders

    /// Creates a redirect, for transports and tests.
    public init(url: URL, status: Int, headers: HTTPHeaders = [:]) {
      self.url = url
      self.status = status
      self.headers = headers
    }
  }
}

/// The redirects that a call has followed, and the requests before them.
package struct RedirectTrail: Sendable {
  /// The properties of a request that determine the response of the server.
  private struct VisitedURL: Hashable {
    var method: String
    /// The URL without its fragment, which is not sent.
    var url: Substring
    /// The `Cookie` field, of the caller or from the jar.
    var cookies: String?

    init(_ request: Request, cookies: String?) {
      method = request.method.rawValue
      let text = request.url.absoluteString
      url = text.prefix { $0 != "#" }
      self.cookies = request.headers["Cookie"] ?? cookies
    }
  }

  /// The redirects, the oldest first.
  package private(set) var redirects: [Response.Redirect] = []
  private var visited: Set<VisitedURL> = []

  package init() {}

  /// Returns the trail with `redirect` added, the response to `currentRequest`, which was sent with the jar's
  /// `cookies`.
  func adding(_ redirect: Response.Redirect, to currentRequest: Request, cookies: String?) -> RedirectTrail {
    var trail = self
    trail.redirects.append(redirect)
    trail.visited.insert(VisitedURL(currentRequest, cookies: cookies))
    return trail
  }

  /// Returns whether `next` has already been sent with the same cookies, so that the response would be the same
  /// redirect.
  func contains(_ next: Request) -> Bool { visited.contains(VisitedURL(next, cookies: next.jarCookies)) }
}
