import Foundation

/// The model to decode: a user, as in the APIs of social networks.
struct User: Codable, Sendable {
  struct Address: Codable, Sendable {
    var street: String
    var city: String
    var zip: String
    var latitude: Double
    var longitude: Double
  }

  var id: Int
  var name: String
  var email: String
  var isActive: Bool
  var score: Double
  var balance: Double?
  var nickname: String?
  var phone: String?
  var createdAt: Date
  var updatedAt: Date?
  var address: Address
  var biography: String
  var tags: [String]
  var friends: [Int]
  var ratings: [Double]
}

/// An envelope and its model in one type, for decoding in one pass.
struct Wrapped<Payload: Codable & Sendable>: Codable, Sendable {
  var code: Int
  var message: String
  var data: Payload
}

enum Payloads {
  static func user(_ id: Int) -> User {
    User(
      id: 100_000 + id, name: "Ada Lovelace \(id)", email: "ada.lovelace.\(id)@example.com", isActive: id % 2 == 0,
      score: Double(id) * 1.37 + 0.25, balance: id % 3 == 0 ? nil : Double(id) * 10.5,
      nickname: id % 2 == 0 ? "Countess \u{201C}\(id)\u{201D}" : nil, phone: id % 4 == 0 ? "+44 20 7946 \(id)" : nil,
      createdAt: Date(timeIntervalSince1970: 1_577_491_200 + Double(id)),
      updatedAt: id % 5 == 0 ? nil : Date(timeIntervalSince1970: 1_700_000_000 + Double(id)),
      address: .init(
        street: "\(id) St James's Square", city: "London", zip: "SW1Y 4JH", latitude: 51.5072 + Double(id) / 7_000,
        longitude: -0.1352 - Double(id) / 7_000),
      biography: String(repeating: "The engine weaves algebraic patterns as the loom weaves flowers. ", count: 2)
        + "\n— A. L.",
      tags: ["mathematics", "engine", "notes", "poetry", "London", "北京"], friends: (0..<20).map { id * 7 + $0 * 31 },
      ratings: [4.5, 3.25, 5, 0.1 + Double(id)])
  }

  /// Returns an envelope whose members are in the order of its model's properties, as servers write them.
  static func envelope<Payload: Codable & Sendable>(
    _ payload: Payload, dates: JSONEncoder.DateEncodingStrategy = .secondsSince1970
  ) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    encoder.dateEncodingStrategy = dates
    return (try? encoder.encode(Wrapped(code: 200, message: "ok", data: payload))) ?? Data()
  }
}
