import PortableFoundation
import Streams

/// A backend's base URL. It is checked and parsed once, because nearly every call is a plain path relative to it.
final class BaseURL: Sendable {
  /// The URL up to the last component of the path, without a trailing slash.
  private let root: String
  private let query: String
  /// Guards the URLs of the latest paths, which every call looks up. Creating a URL takes longer than half of all other
  /// work for a request.
  private let known = Locked<[String: URL]>([:])

  /// Creates a base URL, or `nil` for a URL that can't be requested; the call then reports the reason.
  init?(_ url: URL) {
    guard let url = try? url.url(below: nil) else { return nil }
    let text = url.absoluteString.prefix { $0 != "#" }
    let path = text.prefix { $0 != "?" }
    query = String(text.dropFirst(path.count))
    root = String(path.reversed().drop { $0 == "/" }.reversed())
  }

  /// Returns the URL of `target` relative to this URL, or `nil` for a target that needs further checks.
  func url(for target: any URLConvertible) -> URL? {
    guard let path = target as? String else { return nil }
    // Texts with different bytes can be equal, such as the Kelvin sign and K; stored paths are ASCII.
    if let url = known.withLock({ $0[path] }), path.utf8.allSatisfy({ $0 < 0x80 }) { return url }
    // A colon may end a scheme.
    guard !path.isEmpty, URLPath.isPlain(path), !path.utf8.contains(UInt8(ascii: ":")) else { return nil }
    let url = URL(string: root + "/" + path.utf8.drop { $0 == UInt8(ascii: "/") } + query)
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[path] = url
    }
    return url
  }

  /// Most apps call fewer paths than this, apart from paths that contain identifiers.
  private static let limit = 64
}

extension String {
  fileprivate static func + (text: String, bytes: Substring.UTF8View) -> String { text + Substring(bytes) }
}
