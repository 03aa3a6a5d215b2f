import PortableFoundation

/// The cookies of a jar. The work for a cookie depends on its domain, not on the number of all cookies.
struct CookieTable {
  struct Entry {
    var cookie: CookieJar.Cookie
    /// The number of the store or request that used the cookie last.
    var lastUse: Int
  }

  private struct Domain {
    let site: String
    /// In order of creation, and never empty.
    var entries: [Entry] = []
  }

  private struct Site {
    var count = 0
    var secure: [String: SecureCookies] = [:]
  }

  /// The maximum number of cookies of a domain, and of all. RFC 6265 §6.1 requires at least 50, and 3,000.
  private static let (domainLimit, limit) = (100, 3000)
  /// The number of cookies for which room is made in one step, which takes time for each cookie of the table.
  private static let room = 300

  private var domains: [String: Domain] = [:]
  /// The totals of each site: a registrable domain, whose owner may set cookies for all domains below it.
  private var sites: [String: Site] = [:]
  private(set) var count = 0
  private var uses = 0

  /// The cookies by domain, the oldest first.
  var cookies: [CookieJar.Cookie] {
    domains.sorted { $0.key < $1.key }.flatMap { $0.value.entries.map(\.cookie) }
  }

  subscript(domain: String) -> [Entry] { domains[domain]?.entries ?? [] }

  func contains(_ domain: String) -> Bool { domains[domain] != nil }

  /// Starts a request: the cookies that it uses have the same age.
  mutating func beginUse() { uses += 1 }

  mutating func use(_ index: Int, of domain: String) { domains[domain]?.entries[index].lastUse = uses }

  /// Stores, replaces or removes a cookie. Returns whether that changed a cookie.
  mutating func put(_ cookie: CookieJar.Cookie, at now: Date) -> Bool {
    uses += 1
    var domain = domains.removeValue(forKey: cookie.domain) ?? Domain(site: PublicSuffix.site(of: cookie.domain))
    defer { if !domain.entries.isEmpty { domains[cookie.domain] = domain } }
    let old = domain.entries.firstIndex {
      $0.cookie.name == cookie.name && $0.cookie.path == cookie.path
        && $0.cookie.isForSubdomains == cookie.isForSubdomains
    }
    if cookie.isExpired(at: now) {
      guard let old else { return false }
      forget(domain.entries.remove(at: old), of: domain.site)
      return true
    }
    let entry = Entry(cookie: cookie, lastUse: uses)
    if let old {
      // A replaced cookie keeps its position (RFC 6265 §5.3, step 11.3).
      let previous = exchange(&domain.entries[old], with: entry)
      guard previous.cookie != cookie else { return false }
      forget(previous, of: domain.site)
    } else {
      domain.entries.append(entry)
      if domain.entries.count > Self.domainLimit { forget(domain.entries.removeFirst(), of: domain.site) }
    }
    note(entry, of: domain.site)
    return true
  }

  mutating func removeExpired(of domain: String, at now: Date) {
    remove(from: domain) { $0.cookie.isExpired(at: now) }
  }

  /// Removes cookies if there are too many: all expired ones, and then those that were not used for the longest time (RFC 6265
  /// §5.3). A site that has a third of all cookies loses its own, so that it can't remove those of others.
  mutating func makeRoom(at now: Date) {
    guard count > Self.limit else { return }
    for domain in Array(domains.keys) { removeExpired(of: domain, at: now) }
    let excess = count - (Self.limit - Self.room)
    guard excess > 0 else { return }
    let largest = sites.max { $0.value.count < $1.value.count }
    let crowded = largest.flatMap { $0.value.count > Self.limit / 3 ? $0.key : nil }
    var uses: [(use: Int, domain: String, index: Int)] = []
    for (name, domain) in domains where crowded == nil || domain.site == crowded {
      for (index, entry) in domain.entries.enumerated() { uses.append((entry.lastUse, name, index)) }
    }
    uses.sort { $0 < $1 }
    for (domain, oldest) in Dictionary(grouping: uses.prefix(excess), by: \.domain) {
      let indices = Set(oldest.map(\.index))
      var index = -1
      remove(from: domain) { _ in
        index += 1
        return indices.contains(index)
      }
    }
  }

  /// Returns whether a `Secure` cookie exists that `cookie`, received without TLS, must neither replace nor shadow (RFC
  /// 6265bis §5.7, step 13).
  func protects(from cookie: CookieJar.Cookie) -> Bool {
    let site = domains[cookie.domain]?.site ?? PublicSuffix.site(of: cookie.domain)
    return sites[site]?.secure[cookie.name]?.protect(from: cookie) ?? false
  }

  private mutating func remove(from name: String, where isRemoved: (Entry) -> Bool) {
    guard var domain = domains.removeValue(forKey: name) else { return }
    let site = domain.site
    domain.entries.removeAll { entry in
      guard isRemoved(entry) else { return false }
      forget(entry, of: site)
      return true
    }
    if !domain.entries.isEmpty { domains[name] = domain }
  }

  private mutating func note(_ entry: Entry, of site: String) {
    count += 1
    sites[site, default: Site()].count += 1
    guard entry.cookie.isSecure else { return }
    sites[site]?.secure[entry.cookie.name, default: SecureCookies()].insert(entry.cookie)
  }

  private mutating func forget(_ entry: Entry, of site: String) {
    count -= 1
    sites[site]?.count -= 1
    if sites[site]?.count == 0 {
      sites[site] = nil
    } else if entry.cookie.isSecure {
      sites[site]?.secure[entry.cookie.name]?.remove(entry.cookie)
      if sites[site]?.secure[entry.cookie.name]?.isEmpty == true { sites[site]?.secure[entry.cookie.name] = nil }
    }
  }
}

extension CookieJar.Cookie {
  fileprivate func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
