import JSONText
import PortableFoundation

/// The content of a `DurableFile` that later and earlier versions of this package read: a line with a JSON object, then
/// a body of any bytes, which the object describes.
struct DurableRecord: Sendable {
  /// A JSON object. Change it with `set(_:_:)`, which keeps members of other versions.
  private(set) var head: JSON
  /// The body.
  var body: Data

  /// The lowest version that may use this record. Every version can read it, and keeps it unchanged.
  var lowestVersion: Int { head["version"].int ?? .max }

  /// Creates a record with the members of `head`.
  init(lowestVersion: Int = 1, head: JSON = [:], body: Data = Data()) {
    (self.head, self.body) = (head, body)
    set("version", JSON(integerLiteral: lowestVersion))
  }

  /// Reads a file; `nil` if it is truncated, extended or changed, or if the head is not an object with a version.
  init?(_ bytes: Data) {
    guard let content = DurableFile.intact(bytes), let end = content.firstIndex(of: UInt8(ascii: "\n")),
      let head = try? JSON(parsing: content[..<end]), head["version"].int != nil
    else { return nil }
    (self.head, body) = (head, Data(content[(end + 1)...]))
  }

  /// Sets the member `name` of the head; `nil` removes it. Other members keep their text and order.
  mutating func set(_ name: String, _ value: JSON?) {
    var members = (head.members ?? []).filter { $0.key != name }.map { "\(JSON.quoted($0.key)):\($0.value)" }
    if let value, value.exists { members.append("\(JSON.quoted(name)):\(value)") }
    // Strings have no raw line feeds.
    let text = members.joined(separator: ",").replacing("\n", with: " ")
    // Joined from valid values; beyond the depth limit, the head remains as it was.
    if let changed = try? JSON(parsing: "{\(text)}") { head = changed }
  }

  /// The content of the file.
  var bytes: Data { DurableFile.framed(head.data + Data("\n".utf8) + body) }
}
