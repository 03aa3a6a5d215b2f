import PortableFoundation

/// A redirect that was followed on the way to a response.
public struct Redirect: Sendable, Equatable {
  /// The URL that answered with the redirect.
  public var url: URL
  /// The status of that response: 301, 302, 303, 307 or 308.
  public var status: Int
  /// The header fields of that response, `Location` among them.
  public var headers: HTTPHeaders

  /// A redirect, as a transport or a test makes it.
  public init(url: URL, status: Int, headers: HTTPHeaders = [:]) {
    self.url = url
    self.status = status
    self.headers = headers
  }
}

/// The redirects that a call has followed, and the requests that led to them.
struct RedirectTrail: Sendable {
  /// What a server would answer in the same way again.
  private struct VisitedURL: Hashable {
    var method: String
    /// Without the fragment, which no server sees.
    var url: Substring
    /// The `Cookie` field that the jar made.
    var cookies: String?

    init(_ request: Request, cookies: String?) {
      method = request.method.rawValue
      let text = request.url.absoluteString
      url = text.prefix { $0 != "#" }
      self.cookies = cookies
    }
  }

  /// The oldest first.
  private(set) var redirects: [Redirect] = []
  private var visited: Set<VisitedURL> = []

  /// The trail with `redirect` at its end, the response to `hop`, which was sent with the jar's `cookies`.
  func adding(_ redirect: Redirect, to currentRequest: Request, cookies: String?) -> RedirectTrail {
    var trail = self
    trail.redirects.append(redirect)
    trail.visited.insert(VisitedURL(currentRequest, cookies: cookies))
    return trail
  }

  /// Whether `next` was sent before with the same cookies: the response would be the same redirect.
  func contains(_ next: Request) -> Bool { visited.contains(VisitedURL(next, cookies: next.jarCookies)) }
}

extension Request {
  /// The `Cookie` field that the jar adds; `nil` without a jar, and where the caller has set the field.
  var jarCookies: String? {
    headers["Cookie"] == nil ? chosenOptions?.value.cookies?.header(for: url) : nil
  }
}
