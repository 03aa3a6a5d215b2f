import PortableFoundation
import Streams

/// An in-memory store of cookies for the requests that share it (RFC 6265). Without a jar, no cookies are stored.
///
/// ```swift
/// let network = Network(Backend(baseURL: shopURL, options: .init(cookies: CookieJar())))
/// ```
/// A cookie for a domain is accepted only from hosts in that domain, and never for a domain of one label. There is no
/// list of public suffixes, so use a jar only for backends that trust their domain. These rules also apply:
///
/// - A `Cookie` field that the caller sets replaces the jar's cookies.
/// - A response without TLS does not affect `Secure` cookies.
/// - The name prefixes `__Host-` and `__Secure-` have the meaning of RFC 6265bis.
/// - A cookie of more than 4,096 bytes is ignored.
public final class CookieJar: Sendable {
  /// A cookie.
  public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as the server sent it.
    public var value: String
    /// The host, or the domain if `isForSubdomains` is `true`.
    public var domain: String
    /// Whether the cookie is also sent to hosts below `domain`.
    public var isForSubdomains: Bool
    /// The path for which the cookie is sent, including all paths below it.
    public var path: String
    /// Whether the cookie is sent only over TLS.
    public var isSecure: Bool
    /// The expiry date; `nil` for a session cookie, which lasts as long as the jar.
    public var expires: Date?
  }

  /// The maximum number of cookies per domain; the oldest cookies are removed. RFC 6265 §6.1 requires at least 50.
  private static let limit = 100

  /// The cookies by domain, in order of creation. Any thread may use them. No other code is called under the lock.
  private let kept = Locked<[String: [Cookie]]>([:])

  /// Creates an empty jar.
  public init() {}

  /// The cookies by domain, the oldest first. Includes expired cookies until the next request to their domain.
  public var cookies: [Cookie] { kept.withLock { $0 }.sorted { $0.key < $1.key }.flatMap(\.value) }

  /// Removes all cookies.
  public func removeAll() {
    let all = kept.withLock { exchange(&$0, with: [:]) }
    withExtendedLifetime(all) {}
  }

  /// Returns the value of the `Cookie` field for a request to `url`; `nil` without cookies. Cookies with longer paths
  /// come first (RFC 6265 §5.4).
  package func header(for url: URL, at now: Date = Date()) -> String? {
    guard let host = url.plainHost else { return nil }
    let path = SetCookie.path(url)
    let isSecure = url.scheme?.lowercased() == "https"
    let cookies = kept.withLock { kept in
      guard !kept.isEmpty else { return [Cookie]() }
      return Self.domains(of: host).flatMap { domain in
        kept[domain]?.removeAll { $0.expires.map { $0 <= now } ?? false }
        return (kept[domain] ?? []).filter { cookie in
          (isSecure || !cookie.isSecure) && (cookie.isForSubdomains || domain == host)
            && Self.isBelow(path, cookie.path)
        }
      }
    }
    guard !cookies.isEmpty else { return nil }
    // The sort is stable, because cookies with equal paths keep their order of creation.
    let sorted = cookies.enumerated().sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }
    return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
  }

  /// Stores the cookies of the `Set-Cookie` fields in a response from `url`.
  package func store(_ headers: HTTPHeaders, from url: URL, at now: Date = Date()) {
    for field in headers.values(of: "Set-Cookie") {
      guard let cookie = SetCookie(field, from: url, at: now)?.cookie else { continue }
      let isSecure = url.scheme?.lowercased() == "https"
      kept.withLock { kept in
        if !isSecure, Self.protects(kept, from: cookie) { return }
        var cookies = kept[cookie.domain] ?? []
        let old = cookies.firstIndex {
          $0.name == cookie.name && $0.path == cookie.path && $0.isForSubdomains == cookie.isForSubdomains
        }
        if cookie.expires.map({ $0 <= now }) ?? false {
          if let old { cookies.remove(at: old) }
        } else if let old {
          // A replaced cookie keeps its position (RFC 6265 §5.3, step 11.3).
          cookies[old] = cookie
        } else {
          cookies.append(cookie)
          if cookies.count > Self.limit { cookies.removeFirst() }
        }
        kept[cookie.domain] = cookies
      }
    }
  }

  /// Returns whether a `Secure` cookie exists that `cookie`, received without TLS, must neither replace nor shadow (RFC
  /// 6265bis §5.7, step 13).
  private static func protects(_ kept: [String: [Cookie]], from cookie: Cookie) -> Bool {
    kept.contains { domain, cookies in
      (domain == cookie.domain || SetCookie.isBelow(domain, domain: cookie.domain)
        || SetCookie.isBelow(cookie.domain, domain: domain))
        && cookies.contains { $0.isSecure && $0.name == cookie.name && isBelow(cookie.path, $0.path) }
    }
  }

  /// Returns the host and its parent domains, the shortest last.
  private static func domains(of host: String) -> [String] {
    var domains = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      domains.append(String(rest))
    }
    return domains
  }

  /// Returns whether `path` matches `prefix` (RFC 6265 §5.1.4).
  private static func isBelow(_ path: String, _ prefix: String) -> Bool {
    path == prefix || (path.hasPrefix(prefix) && (prefix.hasSuffix("/") || path.dropFirst(prefix.count).hasPrefix("/")))
  }
}
