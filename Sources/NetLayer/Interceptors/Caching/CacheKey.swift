import PortableFoundation

/// A key that distinguishes responses, made of delimited parts.
package struct CacheKey {
  // Bytes, because appending to a string takes several times as long.
  private var bytes: [UInt8]

  init(_ text: String = "") { bytes = Array(text.utf8) }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The first character of keys whose responses are not written to disk.
  private static let memoryMark: Character = "!"
  /// The end of the part of a key that is only valid in this process.
  private static let endOfPlace: UInt8 = 3

  static func start(number: UInt64, account: String?, isLasting: Bool) -> [UInt8] {
    let place = isLasting ? "\(number)" : "\(memoryMark)\(number)"
    return Array(place.utf8) + [endOfPlace] + Array((account.map { "\($0.utf8.count):\($0)" } ?? "").utf8)
  }

  /// Returns the part of `key` that names a file; `nil` for a response that is only in memory.
  static func lastingPart(of key: String) -> Substring? {
    guard key.first != memoryMark else { return nil }
    let end = key.utf8.firstIndex(of: endOfPlace)
    return end.map { key[key.utf8.index(after: $0)...] } ?? key[...]
  }

  /// Returns the beginning of the keys of variants, in memory or also on disk like `key`.
  static func variantPrefix(of key: String) -> String {
    "\(key.first == memoryMark ? "\(memoryMark)" : "")\(Unicode.Scalar(endOfPlace))\(UUID().uuidString)"
  }

  /// Adds a part; `nil` differs from an empty string. The delimiter can't occur in a method, header field or URL.
  package mutating func append(_ part: String?) {
    if let part {
      bytes += part.utf8
      bytes.append(1)
    } else {
      bytes.append(2)
    }
  }

  /// Creates the key of `request` for `account`, or `nil` for a body that is not in memory. `own` replaces URL and
  /// body.
  package init?(
    _ request: Request, method: HTTPMethod? = nil, account: String?, transport: TransportIdentity? = nil,
    own: String? = nil, hasBody: Bool = false
  ) {
    bytes = []
    bytes.reserveCapacity(128)
    if let transport { bytes += transport.keyPart }
    append((method ?? request.method).rawValue)
    append(account)
    // The field determines whether a transport decodes the body.
    append(request.headers["Accept-Encoding"])
    append(own)
    guard own == nil else { return }
    append(Self.stable(request.url))
    switch request.body {
    case .none: break
    case .data(let data): if hasBody { append(Hash.sha256(data).hex) }
    case .file, .parts, .stream: if hasBody { return nil }
    }
  }

  /// Adds the values in the query and the body of `request` that identify the user.
  mutating func appendSecrets(of request: Request) {
    let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    for item in query where request.identifies(item.name) {
      append(item.name)
      append(item.value)
    }
    guard case .data(let data) = request.body else { return }
    let text = String(decoding: data, as: UTF8.self)
    if request.identities.contains(where: { $0.redacted(text) != text }) { append(Hash.sha256(data).hex) }
  }

  /// Returns the URL with its parameters sorted by name, in a stable order, without its fragment, and with scheme and
  /// host in lowercase.
  package static func stable(_ url: URL) -> String {
    var text = url.absoluteString
    // Most URLs are already in this form. One pass detects that, because every hit runs this code.
    let isPlain = text.withUTF8 { bytes in
      var slashes = 0
      for byte in bytes {
        if byte == UInt8(ascii: "/") { slashes += 1 }
        let isUpper = byte >= 65 && byte <= 90 && slashes < 3
        if isUpper || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "&") { return false }
      }
      return true
    }
    return isPlain ? text : sorted(text)
  }

  private static func sorted(_ whole: String) -> String {
    var text = String(whole.prefix { $0 != "#" })
    let scheme = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    let path = text[scheme...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
    // User and password, which precede the host, are not changed.
    if !text[..<path].utf8.contains(UInt8(ascii: "@")) { text = text[..<path].lowercased() + text[path...] }
    guard let mark = text.firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: mark)...].split(separator: "&").enumerated().map { index, pair in
      (name: pair.prefix { $0 != "=" }, index: index, pair: pair)
    }
    let sorted = pairs.sorted { $0.name == $1.name ? $0.index < $1.index : $0.name < $1.name }
    return text[...mark] + sorted.map(\.pair).joined(separator: "&")
  }
}

extension Request {
  /// The redactions that list the names of identifying values.
  var identities: [Redaction] {
    guard let own = chosenOptions?.value.redaction.identities else { return [.identities] }
    return [.identities, own]
  }

  func identifies(_ name: String) -> Bool {
    Redaction.identities.hides(name) || chosenOptions?.value.redaction.identifiesByName(name) == true
  }
}
