import PortableFoundation

/// The URL of a request that a server of another origin has chosen, for example in a `Link`.
///
/// Such a request is what a redirect to that URL would be: without credentials, and never to a Unix domain socket.
package enum ForeignURL: ContextKey {
  package static var defaultValue: URL? { nil }
}

extension Request {
  /// Whether a server of another origin has chosen the URL.
  package var isForeign: Bool { context[ForeignURL.self] != nil }

  /// A foreign request as it is sent: without what interceptors have added to its URL and header fields.
  package var withoutForeignCredentials: Request {
    var request = self
    if let chosen = context[ForeignURL.self] { request.url = chosen }
    request.removeCredentials()
    // As in a browser, another site causes no write with the cookies of this one (RFC 6265bis §5.2, Lax).
    if !method.isSafe { request.options.cookies = nil }
    return request
  }

  /// Removes the header fields that another origin must not receive.
  mutating func removeCredentials() {
    headers["Host"] = nil
    removeCallerCookies()
    // Backends use many names for tokens. Values that logs must not show must not be sent to another origin.
    let redaction = options.redaction
    for field in headers where Redaction.standard.hides(field.name) || redaction.hides(field.name) {
      headers[field.name] = nil
    }
    // The same applies to fields that a backend adds to all requests, except harmless ones.
    for field in originBoundHeaders where !Self.isHarmless(field.name) {
      headers[field.name] = nil
    }
  }

  private static func isHarmless(_ name: String) -> Bool {
    ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"].contains(name.lowercased())
  }
}

extension Response {
  /// Returns whether the response says something about the user of `request`: no other origin has responded or has chosen its
  /// URL. Behind another origin, a request has no credentials, even if a redirect returns.
  package func concernsUser(of request: Request) -> Bool {
    redirects.isEmpty && url == request.url || !involvesAnotherOrigin(than: Origin(request.url))
  }

  /// Returns whether another origin than `origin` has responded, or has redirected the request, so that the URLs in the
  /// response are no longer those of `origin`.
  package func involvesAnotherOrigin(than origin: Origin) -> Bool {
    Origin(url) != origin || Origin(request.url) != origin
      || redirects.contains { Origin($0.url) != origin }
  }
}
