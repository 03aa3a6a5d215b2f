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

extension Response {
  /// The method of the last request, which a redirect may have changed to GET.
  package var lastMethod: HTTPMethod {
    let keepsMethod = request.options.redirects.keepsMethod
    return redirects.reduce(request.method) { method, redirect in
      RedirectPolicy.changesToGet(redirect.status, method, keepsMethod: keepsMethod) ? .get : method
    }
  }
}
