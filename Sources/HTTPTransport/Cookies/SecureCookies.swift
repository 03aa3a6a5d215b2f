import PortableFoundation

/// The `Secure` cookies of one name in a site, in an order that finds those of a domain and below it without a look at the others.
struct SecureCookies {
  private struct Place: Comparable {
    /// The domain in reverse, so that the domains below another one follow it.
    let domain: String
    let path: String

    static func < (left: Place, right: Place) -> Bool { (left.domain, left.path) < (right.domain, right.path) }
  }

  /// The maximum number of cookies that are compared with another one.
  private static let limit = 200

  /// Sorted. A cookie of the host only and one for subdomains can have equal places.
  private var places: [Place] = []

  var isEmpty: Bool { places.isEmpty }

  mutating func insert(_ cookie: CookieJar.Cookie) {
    let place = Self.place(of: cookie)
    places.insert(place, at: index(of: place))
  }

  mutating func remove(_ cookie: CookieJar.Cookie) {
    let place = Self.place(of: cookie)
    let index = index(of: place)
    if index < places.count, places[index] == place { places.remove(at: index) }
  }

  /// Returns whether one of the cookies must neither be replaced nor shadowed by `cookie` of the same name, received without
  /// TLS: one of its domain, of a parent domain or of a subdomain, and of its path or a parent path (RFC 6265bis §5.7, step
  /// 13). If a site has very many of these, `true` without a comparison of all.
  func protect(from cookie: CookieJar.Cookie) -> Bool {
    var compared = 0
    func holds(from start: String, where isRelated: (String) -> Bool) -> Bool {
      for place in places[index(of: Place(domain: start, path: ""))...] {
        guard isRelated(place.domain) else { return false }
        compared += 1
        if compared > Self.limit || CookieJar.isBelow(cookie.path, place.path) { return true }
      }
      return false
    }
    let parents = CookieJar.domains(of: cookie.domain).filter { SetCookie.isBelow(cookie.domain, domain: $0) }
    for domain in [cookie.domain] + parents {
      let domain = String(domain.reversed())
      if holds(from: domain, where: { $0 == domain }) { return true }
    }
    guard cookie.domain.contains("."), !PublicSuffix.isAddress(cookie.domain) else { return false }
    let end = String(cookie.domain.reversed()) + "."
    return holds(from: end) { $0.hasPrefix(end) }
  }

  private static func place(of cookie: CookieJar.Cookie) -> Place {
    Place(domain: String(cookie.domain.reversed()), path: cookie.path)
  }

  private func index(of place: Place) -> Int {
    var range = 0..<places.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = places[middle] < place ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
