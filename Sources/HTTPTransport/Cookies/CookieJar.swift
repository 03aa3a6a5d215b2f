import PortableFoundation
import Streams

/// Keeps the cookies of the requests that share it, in memory (RFC 6265); nothing is kept unless one is asked for.
///
/// ```swift
/// let network = Network(Backend(baseURL: shopURL, options: .init(cookies: CookieJar())))
/// ```
/// A cookie for a whole domain is taken from its own hosts only, and never for a domain of one label; there is no list of
/// public suffixes, so a jar is meant for back ends that trust their domain. A `Cookie` field of the caller's is sent in
/// place of the jar's. What comes without TLS leaves `Secure` cookies alone; the name prefixes `__Host-` and `__Secure-`
/// mean what RFC 6265bis says; a cookie of more than 4,096 bytes is ignored.
public final class CookieJar: Sendable {
  /// One cookie.
  public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as the server sent it.
    public var value: String
    /// The host, or the domain with all its hosts if `isForSubdomains`.
    public var domain: String
    /// Whether the hosts below `domain` get it, too.
    public var isForSubdomains: Bool
    /// The path that it is for, and all below.
    public var path: String
    /// Whether it goes over TLS only.
    public var isSecure: Bool
    /// When it ends; `nil` when the jar does.
    public var expires: Date?
  }

  /// For a domain; the oldest go first. RFC 6265 §6.1 asks for room for 50.
  private static let limit = 100

  /// By domain, in the order of their making. Taken by any thread; nothing is called under it.
  private let kept = Locked<[String: [Cookie]]>([:])

  /// An empty jar.
  public init() {}

  /// Every cookie kept, by domain, the oldest first; those that have ended included until they are looked for.
  public var cookies: [Cookie] { kept.withLock { $0 }.sorted { $0.key < $1.key }.flatMap(\.value) }

  /// Forgets every cookie.
  public func removeAll() {
    let all = kept.withLock { kept in
      defer { kept = [:] }
      return kept
    }
    withExtendedLifetime(all) {}
  }

  /// The value of the `Cookie` field of a request to `url`; `nil` for none. Longer paths first (RFC 6265 §5.4).
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
    // A stable sort, as equal paths keep the order of their making.
    let sorted = cookies.enumerated().sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }
    return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
  }

  /// Keeps what the `Set-Cookie` fields of an answer from `url` say.
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
          // The place in the order is that of its making (RFC 6265 §5.3, step 11.3).
          cookies[old] = cookie
        } else {
          cookies.append(cookie)
          if cookies.count > Self.limit { cookies.removeFirst() }
        }
        kept[cookie.domain] = cookies
      }
    }
  }

  /// Whether a cookie for TLS stands where `cookie` has come without: it is neither replaced nor shadowed (RFC 6265bis
  /// §5.7, step 13).
  private static func protects(_ kept: [String: [Cookie]], from cookie: Cookie) -> Bool {
    kept.contains { domain, cookies in
      (domain == cookie.domain || SetCookie.isBelow(domain, domain: cookie.domain)
        || SetCookie.isBelow(cookie.domain, domain: domain))
        && cookies.contains { $0.isSecure && $0.name == cookie.name && isBelow(cookie.path, $0.path) }
    }
  }

  /// The host, and what it is below, the shortest last.
  private static func domains(of host: String) -> [String] {
    var domains = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      domains.append(String(rest))
    }
    return domains
  }

  /// RFC 6265 §5.1.4.
  private static func isBelow(_ path: String, _ prefix: String) -> Bool {
    path == prefix || (path.hasPrefix(prefix) && (prefix.hasSuffix("/") || path.dropFirst(prefix.count).hasPrefix("/")))
  }
}
