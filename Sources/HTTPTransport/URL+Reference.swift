import PortableFoundation

extension URL {
  /// Resolves a reference that the server of `base` has sent (RFC 3986 §5). An empty one is the URL itself, without its
  /// fragment (RFC 3986 §5.4). A user and a password in the reference are
  /// dropped, because they would become credentials of the next request (RFC 9110 §4.2.4). A relative reference keeps
  /// those of `base`.
  package init?(reference: String, from base: URL) {
    if reference.allSatisfy(\.isWhitespace) {
      guard let plain = URL(string: String(base.absoluteString.prefix { $0 != "#" })) else { return nil }
      self = plain
      return
    }
    guard let url = URL(string: reference, relativeTo: base)?.absoluteURL else { return nil }
    self = url
    guard let own = URL(string: reference), own.user != nil || own.password != nil else { return }
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    guard let plain = parts.url else { return nil }
    self = plain
  }
}
