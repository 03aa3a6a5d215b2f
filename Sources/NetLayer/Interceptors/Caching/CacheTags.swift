import PortableFoundation

/// Digests of an entry's URL and of its parent URLs. They identify the entries of all accounts without storing URLs on
/// disk. Two URLs may share a tag; a removal then removes an additional entry.
enum CacheTags {
  /// Returns the tags of an entry for `request`: its URL, the URL's parents, and the tags of the endpoint.
  static func all(of request: Request) -> [String] {
    let named = request.caching.tags
    return named.isEmpty ? all(of: request.url) : all(of: request.url) + named.map(CacheTags.named).sorted()
  }

  static func named(_ tag: CacheTag) -> String { self.tag(Array(tag.rawValue.utf8)[...], kind: 3) }

  static func all(of url: URL) -> [String] {
    let parts = Parts(url)
    var tags = parts.folders.map { tag(parts.text[..<$0]) }
    tags.append(tag(parts.text[...], kind: 1))
    return tags
  }

  /// Returns the tag of all entries of `url`, including its query.
  static func exact(_ url: URL) -> String { tag(Parts(url).text[...], kind: 1) }

  /// Returns the tag of all entries at or below the path of `url`, ignoring its query.
  static func below(_ url: URL) -> String {
    let parts = Parts(url)
    return tag(parts.text[..<(parts.folders.last ?? parts.text.endIndex)])
  }

  private struct Parts {
    /// The URL without user and password.
    let text: [UInt8]
    /// The end offsets of scheme, host and port, and of each non-empty path segment.
    var folders: [Int] = []

    init(_ url: URL) {
      var text = Array(CacheKey.stable(url).utf8)
      var at = 0
      while at < text.count, !(text[at] == UInt8(ascii: "/") && at > 0 && text[at - 1] == UInt8(ascii: "/")) { at += 1 }
      let host = min(at + 1, text.count)
      let path = text[host...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? text.count
      if let user = text[host..<path].lastIndex(of: UInt8(ascii: "@")) { text.removeSubrange(host...user) }
      self.text = text
      at = host
      while at < text.count, text[at] != UInt8(ascii: "?") {
        at += 1
        let isEnd = at == text.count || text[at] == UInt8(ascii: "/") || text[at] == UInt8(ascii: "?")
        if isEnd, text[at - 1] != UInt8(ascii: "/") { folders.append(at) }
      }
    }
  }

  /// Returns the FNV-1a hash, truncated to 48 bits.
  private static func tag(_ text: ArraySlice<UInt8>, kind: UInt8 = 2) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    text.forEach(add)
    // `http://h/a` as a URL differs from the folder of `http://h/a/b`, and from an endpoint's tag.
    add(kind)
    return String(hash >> 16, radix: 36)
  }
}
