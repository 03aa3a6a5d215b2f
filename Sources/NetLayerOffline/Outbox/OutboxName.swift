import PortableFoundation

/// The name of an entry's file: 16 hexadecimal digits and a UUID. The number is the order, the UUID the identity.
/// Two processes may take one number, so names are compared as a whole.
struct OutboxName: Hashable, Comparable, Sendable {
  let text: String
  let id: UUID

  init(_ number: UInt64, _ id: UUID) {
    let digits = String(number, radix: 16)
    text = String(repeating: "0", count: 16 - digits.count) + digits + "-" + id.uuidString
    self.id = id
  }

  /// Reads the name of a file, and the status of a parked entry, which follows the name after a plus sign.
  static func read(_ file: String) -> (name: OutboxName, hold: OutboxState.Hold?)? {
    let parts = file.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0].utf8.count == 53, let number = UInt64(parts[0].prefix(16), radix: 16),
      let id = UUID(uuidString: String(parts[0].dropFirst(17)))
    else { return nil }
    let name = OutboxName(number, id)
    guard name.text == parts[0] else { return nil }
    guard parts.count == 2 else { return (name, nil) }
    if parts[1] == "parked" { return (name, .parked(status: nil)) }
    guard let status = Int(parts[1]), String(status) == parts[1] else { return nil }
    return (name, .parked(status: status))
  }

  /// Returns the name of the file of a parked entry.
  func parked(_ status: Int?) -> String { "\(text)+\(status.map { "\($0)" } ?? "parked")" }

  var number: UInt64 { UInt64(text.prefix(16), radix: 16) ?? 0 }

  static func < (a: OutboxName, b: OutboxName) -> Bool { a.text < b.text }
}
