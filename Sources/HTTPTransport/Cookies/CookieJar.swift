import PortableFoundation
import Streams

/// A store of cookies for the requests that share it (RFC 6265), in memory or also in a file. Without a jar, no cookies are
/// stored.
///
/// ```swift
/// let network = Network(Backend(baseURL: shopURL, options: .init(cookies: CookieJar())))
/// ```
/// A cookie for a domain is accepted only from hosts in that domain, and never for a domain of one label, nor for a public
/// suffix such as `co.uk`. The list of these comes from libpsl, which Linux distributions install with libcurl. Without it,
/// and on Apple platforms, use a jar only for backends that trust their domain. These rules also apply:
///
/// - A `Cookie` field that the caller sets replaces the jar's cookies. After a redirect within the origin, the request has
///   the caller's cookies, except those that a redirect has set or removed, and the jar's other cookies.
/// - A response without TLS does not affect `Secure` cookies. Requests to `localhost`, `127.0.0.0/8` and `::1` need no TLS
///   for them.
/// - The name prefixes `__Host-` and `__Secure-` have the meaning of RFC 6265bis.
/// - A cookie of more than 4,096 bytes is ignored.
/// - A request has at most 16 KB of cookies, those with the longest paths. More would make servers reject it.
/// - At most 100 cookies per domain are stored, and 3,000 in total (RFC 6265 §6.1). Of a domain, the oldest are removed;
///   in total, the 300 that were not sent for the longest time, or those of a site that has more than 1,000. A site is the
///   domain below a public suffix, with all of its subdomains; without libpsl, the last two labels.
/// - Of a response, the first 50 `Set-Cookie` fields count.
public final class CookieJar: Sendable {
  /// A cookie.
  public struct Cookie: Sendable, Hashable, Codable {
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
    /// Whether the cookie is sent only over TLS, or to this machine.
    public var isSecure: Bool
    /// The expiry date; `nil` for a session cookie, which lasts as long as the jar.
    public var expiresAt: Date?

    /// Creates a cookie; by default, a session cookie for all paths of one host.
    public init(
      name: String, value: String, domain: String, isForSubdomains: Bool = false, path: String = "/",
      isSecure: Bool = false, expiresAt: Date? = nil
    ) {
      (self.name, self.value) = (name, value)
      (self.domain, self.isForSubdomains, self.path) = (domain, isForSubdomains, path)
      (self.isSecure, self.expiresAt) = (isSecure, expiresAt)
    }
  }

  /// The maximum number of `Set-Cookie` fields of a response that count. A head can have 500.
  private static let responseLimit = 50
  /// The maximum size of the `Cookie` field in bytes.
  private static let fieldLimit = 16 << 10

  /// Any thread may use the cookies. No other code is called under the lock.
  private let kept = Locked(CookieTable())

  private let storage: CookieStorage?

  /// Creates an empty jar in memory.
  public init() { storage = nil }

  private init(_ storage: CookieStorage, _ cookies: [Cookie]) {
    self.storage = storage
    kept.withLock { kept in
      let now = Date()
      for cookie in cookies { _ = kept.put(cookie, at: now) }
      kept.makeRoom(at: now)
    }
  }

  /// Creates a jar with the cookies in `file`, which it creates with mode 0600 at the first change.
  ///
  /// Changes are written within a quarter of a second; `save()` writes them immediately. The file survives a crash as
  /// the old one or the complete new one. If several processes use it, the last one that writes wins.
  ///
  /// - Parameters:
  ///   - file: The file. Its directory is created with mode 0700 if it is missing.
  ///   - keepsSessionCookies: Whether cookies without an expiry date are kept, too. The default is `false`, as in browsers.
  /// - Throws: `NetworkError` of kind `file` for a file that can't be read, is damaged, or is writable by another user.
  public convenience init(storingIn file: URL, keepsSessionCookies: Bool = false) throws(NetworkError) {
    let (storage, cookies) = try CookieStorage.open(file, keepsSessionCookies: keepsSessionCookies)
    self.init(storage, cookies)
  }

  #if canImport(Darwin)
    /// Creates a jar with the cookies in the keychain, like `init(storingIn:keepsSessionCookies:)`. It is available only on
    /// Apple platforms.
    ///
    /// - Parameters:
    ///   - service: The name that groups the items of an app; the bundle identifier by default.
    ///   - account: The name that distinguishes the jars of a service.
    ///   - keepsSessionCookies: Whether cookies without an expiry date are kept, too.
    /// - Throws: `NetworkError` of kind `file`.
    public convenience init(
      storingInKeychain service: String = Bundle.main.bundleIdentifier ?? "NetLayer", account: String = "cookies",
      keepsSessionCookies: Bool = false
    ) throws(NetworkError) {
      let (storage, cookies) = try CookieStorage.open(
        KeychainItem(service: service, account: account), keepsSessionCookies: keepsSessionCookies)
      self.init(storage, cookies)
    }
  #endif

  /// Writes the cookies to the file or the keychain immediately, such as at the end of a command-line tool. It does nothing
  /// for a jar in memory.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func save() throws(NetworkError) { try storage?.save { self.cookies } }

  /// The cookies by domain, the oldest first. Includes expired cookies until the next request to their domain.
  public var cookies: [Cookie] { kept.withLock { $0 }.cookies }

  /// Puts in a cookie, such as that of a login in a web view. It replaces one of the same name, domain and path; one that has
  /// expired removes it.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` for a name or value with a control character or `;`, and for an empty name
  ///   or one with `=`. A domain must not be empty or begin with a dot, and a path begins with `/`.
  public func insert(_ cookie: Cookie) throws(NetworkError) {
    func isClean(_ text: String) -> Bool {
      !text.utf8.contains { $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: ";") }
    }
    guard isClean(cookie.name), isClean(cookie.value), !cookie.name.isEmpty, !cookie.name.contains("="),
      !cookie.domain.isEmpty, !cookie.domain.hasPrefix("."), cookie.path.hasPrefix("/")
    else {
      throw NetworkError(
        kind: .invalidRequest,
        reason: "the cookie \(cookie.name.debugDescription) of \(cookie.domain.debugDescription), path "
          + "\(cookie.path.debugDescription), can't be sent: a name needs no =, ; or control character, a value no ; or "
          + "control character, a domain no dot at its start, and a path begins with /")
    }
    var cookie = cookie
    cookie.domain = cookie.domain.lowercased()
    put([cookie], at: Date())
  }

  /// Removes the cookie of the same name, domain and path, if there is one.
  public func remove(_ cookie: Cookie) {
    var cookie = cookie
    (cookie.domain, cookie.expiresAt) = (cookie.domain.lowercased(), .distantPast)
    put([cookie], at: Date())
  }

  /// Stores, replaces or removes cookies. Those without TLS leave `Secure` ones as they are.
  private func put(_ cookies: [Cookie], isSecure: Bool = true, at now: Date) {
    let hasChanged = kept.withLock { kept in
      var hasChanged = false
      for cookie in cookies where isSecure || !kept.protects(from: cookie) {
        if kept.put(cookie, at: now) { hasChanged = true }
      }
      kept.makeRoom(at: now)
      return hasChanged
    }
    if hasChanged { noteChange() }
  }

  /// Removes all cookies.
  public func removeAll() {
    kept.release { exchange(&$0, with: CookieTable()) }
    noteChange()
  }

  private func noteChange() { storage?.noteChange { self.cookies } }

  /// Returns the value of the cookie `name` that a request to `url` carries; `nil` without one.
  package func value(of name: String, for url: URL) -> String? {
    let prefix = Array("\(name)=".utf8)
    let pairs = header(for: url)?.split(separator: ";").map { $0.utf8.drop { $0 == UInt8(ascii: " ") } }
    return pairs?.first { $0.starts(with: prefix) }.map { String(Substring($0.dropFirst(prefix.count))) }
  }

  /// Returns the value of the `Cookie` field for a request to `url`; `nil` without cookies. Cookies with longer paths
  /// come first (RFC 6265 §5.4). Those that have one of the `excluded` names are omitted.
  package func header(for url: URL, at now: Date = Date(), excluding excluded: Set<String> = []) -> String? {
    guard let host = url.plainHost else { return nil }
    let path = SetCookie.path(url)
    let isSecure = SetCookie.isSecure(url)
    return kept.withLock { kept in
      guard kept.count > 0 else { return nil }
      let domains = Self.domains(of: host).filter { kept.contains($0) }
      kept.beginUse()
      var found: [(domain: String, index: Int, cookie: Cookie)] = []
      for domain in domains {
        kept.removeExpired(of: domain, at: now)
        for (index, entry) in kept[domain].enumerated() {
          let cookie = entry.cookie
          guard isSecure || !cookie.isSecure, cookie.isForSubdomains || domain == host, Self.isBelow(path, cookie.path)
          else { continue }
          guard !excluded.contains(cookie.name) else { continue }
          found.append((domain, index, cookie))
        }
      }
      // A stable sort: cookies with equal paths keep their order of creation.
      let sorted = found.enumerated().sorted {
        ($1.element.cookie.path.utf8.count, $0.offset) < ($0.element.cookie.path.utf8.count, $1.offset)
      }
      var field = ""
      for (domain, index, cookie) in sorted.map(\.element) {
        let pair = "\(field.isEmpty ? "" : "; ")\(cookie.name)=\(cookie.value)"
        guard field.utf8.count + pair.utf8.count <= Self.fieldLimit else { break }
        field += pair
        kept.use(index, of: domain)
      }
      return field.isEmpty ? nil : field
    }
  }

  /// Stores the cookies of the `Set-Cookie` fields in a response from `url`.
  package func store(_ headers: HTTPHeaders, from url: URL, at now: Date = Date()) {
    let cookies = Self.cookies(in: headers, from: url, at: now)
    if !cookies.isEmpty { put(cookies, isSecure: SetCookie.isSecure(url), at: now) }
  }

  /// Returns the cookies that a response from `url` may set, or remove.
  static func cookies(in headers: HTTPHeaders, from url: URL, at now: Date = Date()) -> [Cookie] {
    let fields = headers.values(of: "Set-Cookie").prefix(Self.responseLimit)
    return fields.compactMap { SetCookie($0, from: url, at: now)?.cookie }
  }

  static func domains(of host: String) -> [String] {
    var domains = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      domains.append(String(rest))
    }
    return domains
  }

  /// Returns whether `path` matches `prefix` (RFC 6265 §5.1.4).
  static func isBelow(_ path: String, _ prefix: String) -> Bool {
    path == prefix || (path.hasPrefix(prefix) && (prefix.hasSuffix("/") || path.dropFirst(prefix.count).hasPrefix("/")))
  }
}
