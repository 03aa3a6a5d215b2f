import Foundation

/// The content to serve and decode: an envelope with one user of about 1 KB, or with a thousand users.
struct User: Codable, Sendable {
  struct Address: Codable, Sendable {
    var street: String
    var city: String
    var latitude: Double
    var longitude: Double
  }

  var id: Int
  var name: String
  var email: String
  var isActive: Bool
  var score: Double
  var biography: String
  var tags: [String]
  var address: Address
  var followers: [Int]
}

/// An envelope and its model in one type, for decoding in one pass by clients that have no envelopes.
struct Wrapped<Payload: Codable & Sendable>: Codable, Sendable {
  var code: Int
  var message: String
  var data: Payload
}

enum Payloads {
  static func user(_ id: Int) -> User {
    User(
      id: id, name: "Ada Lovelace \(id)", email: "ada.\(id)@example.com", isActive: id % 2 == 0,
      score: Double(id) + 0.25,
      biography: String(repeating: "The engine weaves algebraic patterns as the loom weaves flowers; 分析机. ", count: 8),
      tags: ["mathematics", "engine", "notes", "poetry", "北京"],
      address: .init(street: "12 St James's Square", city: "London", latitude: 51.5072, longitude: -0.1352),
      followers: Array(id..<(id + 32)))
  }

  static func envelope<Payload: Codable & Sendable>(_ payload: Payload) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(Wrapped(code: 200, message: "ok", data: payload))) ?? Data()
  }

  /// About 1 KB.
  static let small = envelope(user(7))
  /// About 1 MB.
  static let large = envelope((0..<1_040).map(user))
}
