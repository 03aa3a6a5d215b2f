import PortableFoundation
import Streams

/// A backend's base URL. It is checked and parsed once, because nearly every call is a plain path relative to it.
final class BaseURL: Sendable {
  private let stem: URLStem
  /// Guards the URLs of the latest paths, which every call looks up. Creating a URL takes longer than half of all other
  /// work for a request.
  private let known = Locked<[String: URL]>([:])

  /// Creates a base URL, or `nil` for a URL that can't be requested; the call then reports the reason.
  init?(_ url: URL) {
    guard let url = try? url.url(below: nil) else { return nil }
    stem = URLStem(url)
  }

  /// Returns the URL of `target` relative to this URL, or `nil` for a target that needs further checks.
  func url(for target: any URLConvertible) -> URL? {
    guard let path = target as? String else { return nil }
    // Texts with different bytes can be equal, such as the Kelvin sign and K; stored paths are ASCII.
    if let url = known.withLock({ $0[path] }), path.utf8.allSatisfy({ $0 < 0x80 }) { return url }
    // A colon may end a scheme.
    guard !path.isEmpty, URLPath.isPlain(path), !path.utf8.contains(UInt8(ascii: ":")) else { return nil }
    let url = URL(text: stem.text(joining: path))
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[path] = url
    }
    return url
  }

  /// Most apps call fewer paths than this, apart from paths that contain identifiers.
  private static let limit = 64
}

struct URLStem {
  /// The URL up to the last component of the path, without a trailing slash.
  private let root: String
  private let query: String

  init(_ url: URL) {
    // Compares bytes, because many calls run this code.
    let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
    var root = text.prefix { $0 != UInt8(ascii: "?") }
    query = String(Substring(text[root.endIndex...]))
    while root.last == UInt8(ascii: "/") { root.removeLast() }
    self.root = String(Substring(root))
  }

  /// Returns the text of the URL with `path`, joined with exactly one slash. The URL's own path and query are kept.
  func text(joining path: String) -> String {
    root + "/" + Substring(path.utf8.drop { $0 == UInt8(ascii: "/") }) + query
  }
}
