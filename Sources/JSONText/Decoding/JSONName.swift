/// The name of a member as a hash key. Names are equal only if their bytes are equal. Strings, in contrast, also
/// compare canonically equivalent text as equal.
struct JSONName: Hashable {
  let text: String
  /// The bytes of a name with invalid characters, which distinguish it from other names with the same `text`.
  private let badBytes: [UInt8]?

  init(_ text: String) { self.init(text, badBytes: nil) }

  init(_ text: String, badBytes: [UInt8]?) {
    self.text = text
    self.badBytes = badBytes
  }

  /// The name as a JSON string literal; an invalid name is unchanged.
  var quoted: String {
    badBytes.map { "\"" + String(decoding: $0, as: UTF8.self) + "\"" } ?? JSON.quoted(text)
  }

  static func == (a: JSONName, b: JSONName) -> Bool {
    a.badBytes == b.badBytes && a.text.utf8.elementsEqual(b.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
