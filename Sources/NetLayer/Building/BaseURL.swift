import PortableFoundation
import Streams

/// A back end's base URL, checked and taken apart once: nearly every call is a plain path below it.
final class BaseURL: Sendable {
  /// Up to the last component of the path, without the slash behind it.
  private let root: String
  private let query: String
  /// The URLs of the latest paths: making one takes longer than half of what a request needs beside it. Every call looks here.
  private let known = Locked<[String: URL]>([:])

  /// `nil` for one that can't be requested: the call then says why.
  init?(_ url: URL) {
    guard let url = try? url.url(below: nil) else { return nil }
    let text = url.absoluteString.prefix { $0 != "#" }
    let path = text.prefix { $0 != "?" }
    query = String(text.dropFirst(path.count))
    root = String(path.reversed().drop { $0 == "/" }.reversed())
  }

  /// The URL of `target` below this one; `nil` for a target that needs a closer look.
  func url(for target: any URLConvertible) -> URL? {
    guard let path = target as? String else { return nil }
    // Texts are equal whose bytes differ, such as the Kelvin sign and K; those that are kept are ASCII.
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

  /// Most apps call fewer paths than this, but for those with identifiers in them.
  private static let limit = 64
}

extension String {
  fileprivate static func + (text: String, bytes: Substring.UTF8View) -> String { text + Substring(bytes) }
}
