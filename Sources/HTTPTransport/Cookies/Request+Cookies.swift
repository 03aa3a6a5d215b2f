import PortableFoundation

/// The cookies of the caller's `Cookie` field after a redirect, as the value of a field.
private enum CallerCookies: ContextKey {
  static var defaultValue: String? { nil }
}

extension Request {
  /// The `Cookie` field from the jar, after a redirect preceded by the caller's cookies; `nil` without a jar, or if
  /// the caller has set the field of this request.
  var jarCookies: String? {
    guard headers["Cookie"] == nil, let jar = chosenOptions?.value.cookies else { return nil }
    guard let own = context[CallerCookies.self] else { return jar.header(for: url) }
    let names = Set(Self.pairs(own).map(Self.name))
    return jar.header(for: url, excluding: names).map { "\(own); \($0)" } ?? own
  }

  /// Prepares the cookies of a redirected request: the jar takes over those that the redirect, a response from `redirected`
  /// with `fields`, sets or removes. Without a jar, the caller's field stays.
  mutating func passCookies(_ fields: HTTPHeaders, from redirected: URL) {
    guard chosenOptions?.value.cookies != nil else { return }
    let own = context[CallerCookies.self] ?? headers.values(of: "Cookie").joined(separator: "; ")
    guard !own.isEmpty else { return }
    let names = Set(CookieJar.cookies(in: fields, from: redirected).map(\.name))
    let left = Self.pairs(own).filter { !names.contains(Self.name($0)) }
    headers["Cookie"] = nil
    context[CallerCookies.self] = left.isEmpty ? nil : left.joined(separator: "; ")
  }

  /// Removes the caller's cookies, which another origin must not receive.
  mutating func removeCallerCookies() {
    if context[CallerCookies.self] != nil { context[CallerCookies.self] = nil }
  }

  private static func pairs(_ field: String) -> [String] {
    field.utf8.split(separator: UInt8(ascii: ";")).map { Substring($0).trimmingBlanks }.filter { !$0.isEmpty }
  }

  private static func name(_ pair: String) -> String {
    Substring(pair.utf8.prefix { $0 != UInt8(ascii: "=") }).trimmingBlanks
  }
}
