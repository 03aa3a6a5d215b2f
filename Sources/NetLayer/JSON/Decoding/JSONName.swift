/// The name of a member as a key of tables: the same only if its bytes are, unlike strings, of which Unicode takes some
/// different ones as equal.
struct JSONName: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: JSONName, b: JSONName) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
