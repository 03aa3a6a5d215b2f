import Foundation

/// What tells answers apart: parts of which none runs into the next.
struct CacheKey {
  private(set) var text: String

  init(_ text: String = "") { self.text = text }

  /// Adds a part; `nil` is another one than the empty text.
  mutating func append(_ part: String?) {
    guard let part else { return text += "-" }
    text += "\(part.utf8.count):"
    text += part
  }

  /// The key of `request` for `account`; `nil` for a body that is not in memory.
  ///
  /// - Parameters:
  ///   - account: whose answer it is.
  ///   - own: instead of URL and body.
  ///   - hasBody: whether the body is part of it.
  init?(_ request: Request, method: HTTPMethod? = nil, account: String?, own: String? = nil, hasBody: Bool = false) {
    text = ""
    append((method ?? request.method).rawValue)
    append(account)
    // It decides whether a transport decodes the body.
    append(request.headers["Accept-Encoding"])
    append(own)
    guard own == nil else { return }
    append(Self.stable(request.url))
    switch request.body {
    case .none: break
    case .data(let data): if hasBody { append(Digest.sha256(data).hex) }
    case .file, .parts: if hasBody { return nil }
    }
  }

  /// The URL with its parameters sorted by name: those of one name stay in order. Without fragment, scheme and host in
  /// lower case.
  static func stable(_ url: URL) -> String {
    var text = url.absoluteString
    if let fragment = text.firstIndex(of: "#") { text = String(text[..<fragment]) }
    let scheme = text.range(of: "://")?.upperBound ?? text.startIndex
    let path = text[scheme...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
    // Users and passwords, which stand there too, are taken as they are.
    if text[..<path].utf8.contains(where: { $0 >= 65 && $0 <= 90 }), !text[..<path].utf8.contains(UInt8(ascii: "@")) {
      text = text[..<path].lowercased() + text[path...]
    }
    guard let mark = text.firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: mark)...].split(separator: "&").enumerated().map { index, pair in
      (name: pair.prefix { $0 != "=" }, index: index, pair: pair)
    }
    guard pairs.count > 1 else { return text }
    let sorted = pairs.sorted { $0.name == $1.name ? $0.index < $1.index : $0.name < $1.name }
    return text[...mark] + sorted.map(\.pair).joined(separator: "&")
  }
}
