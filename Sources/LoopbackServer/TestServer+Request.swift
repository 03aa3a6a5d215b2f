import PortableFoundation

extension TestServer {
  /// A request as read by the server, with a complete body and without chunked coding.
  public struct Request: Sendable {
    /// The method, as sent.
    public let method: String
    /// The request target as sent: path and query, still percent-encoded.
    public let target: String
    /// The body; empty without one.
    public internal(set) var body: [UInt8]
    /// The values of the `:name` parts in the route's pattern, percent-decoded; empty without a routes table.
    public internal(set) var parameters: [String: String] = [:]
    /// The number of the connection, counted from 1.
    public let connection: Int
    let fieldLines: [UInt8]

    /// The target before the `?`, still percent-encoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query's items in order, percent-decoded, with `+` as a space; duplicates included.
    public var queryItems: [(name: String, value: String)] {
      guard let mark = target.firstIndex(of: "?") else { return [] }
      return target[target.index(after: mark)...].split(separator: "&").map { item in
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
      }
    }

    /// Returns the first value of the query item `name`, or `nil`.
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The header fields in order with their names as sent; duplicates included. Parsed at each access.
    public var headers: [(name: String, value: String)] {
      fieldLines.split(separator: UInt8(ascii: "\n")).compactMap { line in
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = line[(colon + 1)...].drop { $0 == 32 || $0 == 9 }
        let end = value.lastIndex { $0 != 32 && $0 != 9 && $0 != 13 }
        return (
          String(decoding: line[..<colon], as: UTF8.self),
          String(decoding: end.map { value[...$0] } ?? [], as: UTF8.self)
        )
      }
    }

    /// Returns the first value of the header field `name`, ignoring case, or `nil`.
    public func header(_ name: String) -> String? { headerValues(name).first }

    /// Returns all values of the header field `name`, ignoring case.
    public func headerValues(_ name: String) -> [String] {
      let lowered = name.lowercased()
      return headers.filter { $0.name.lowercased() == lowered }.map(\.value)
    }

    /// The body as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    static func decoded(_ part: Substring) -> String {
      let spaced = part.replacing("+", with: " ")
      return spaced.decodingPercent ?? String(spaced)
    }
  }
}
