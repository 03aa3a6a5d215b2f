import PortableFoundation

extension URL {
  /// Resolves a reference that the server of `base` has sent (RFC 3986 §5). Surrounding spaces and control characters are
  /// ignored. An empty one is the URL itself, without its fragment (RFC 3986 §5.4). A user and a password in the
  /// reference are dropped, because they would become credentials of the next request (RFC 9110 §4.2.4). A relative
  /// reference keeps those of `base`.
  package init?(reference: String, from base: URL) {
    if reference.allSatisfy(\.isWhitespace) {
      guard let plain = URL(text: String(base.absoluteString.prefix { $0 != "#" })) else { return nil }
      self = plain
      return
    }
    var text = reference.trimming { $0.value <= 0x20 }
    // The colon would make the first component a scheme (RFC 3986 §4.2).
    let component = text.prefix { !"/?#".contains($0) }
    if component.utf8.contains(UInt8(ascii: ":")), URLText.endOfScheme(text.utf8) == 0 { text = "./" + text }
    guard let url = URL(text: text, relativeTo: base)?.absoluteURL else { return nil }
    self = url.withoutDots
    guard let own = URL(text: text), own.user != nil || own.password != nil else { return }
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    guard let plain = parts.url else { return nil }
    self = plain
  }

  /// The URL without the components `.` and `..`, also percent-encoded (RFC 3986 §5.2.4; WHATWG URL). Foundation removes
  /// them only from relative references.
  private var withoutDots: URL {
    let text = absoluteString
    guard let authority = text.firstRange(of: "://")?.upperBound,
      let start = text[authority...].firstIndex(where: { "/?#".contains($0) }), text[start] == "/"
    else { return self }
    let end = text[start...].firstIndex { "?#".contains($0) } ?? text.endIndex
    let parts = text[start..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      .map { (text: $0, dots: $0.replacing("%2e", with: ".").replacing("%2E", with: ".")) }
    guard let last = parts.last?.dots, parts.contains(where: { [".", ".."].contains($0.dots) }) else { return self }
    var kept: [Substring] = []
    for part in parts {
      if part.dots == ".." { _ = kept.popLast() } else if part.dots != "." { kept.append(part.text) }
    }
    if last == "." || last == ".." { kept.append("") }
    return URL(text: "\(text[..<start])/\(kept.joined(separator: "/"))\(text[end...])") ?? self
  }
}
