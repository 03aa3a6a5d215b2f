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

extension Response {
  /// The method of the last request, which a redirect may have changed to GET.
  package var lastMethod: HTTPMethod {
    let keepsMethod = request.options.redirects.keepsMethod
    return redirects.reduce(request.method) { method, redirect in
      RedirectPolicy.changesToGet(redirect.status, method, keepsMethod: keepsMethod) ? .get : method
    }
  }
}

/// The redirects that a call has followed.
package struct RedirectTrail: Sendable {
  /// The redirects, the oldest first.
  package private(set) var redirects: [Response.Redirect] = []

  package init() {}

  /// Returns the trail with `redirect` added.
  func adding(_ redirect: Response.Redirect) -> RedirectTrail {
    var trail = self
    trail.redirects.append(redirect)
    return trail
  }
}
