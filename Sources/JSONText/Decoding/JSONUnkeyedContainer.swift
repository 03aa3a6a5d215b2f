/// The elements of an array, one after another. An element that cannot be decoded stays the current element.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
  private let session: DecodingSession
  private let array: DecodingPlace
  private var position: UInt32
  private var ordinal: UInt32 = 0

  init(_ session: DecodingSession, _ array: DecodingPlace) {
    self.session = session
    self.array = array
    position = array.position + 3
  }

  var codingPath: [any CodingKey] { session.path(to: array) }
  var count: Int? { session.read { $0.count(of: Int(array.position)) } }
  var isAtEnd: Bool { session.read { Int(position) >= $0.end(of: Int(array.position)) } }
  var currentIndex: Int { Int(ordinal) }

  /// Returns the result of `body` for the current element, and advances unless it throws.
  @inline(__always)
  private mutating func next<Value>(
    _ type: Value.Type = Value.self, _ body: (DecodingSession, DecodingPlace) throws -> Value
  ) throws -> Value {
    guard !isAtEnd else { throw end(type) }
    let value = try body(session, DecodingPlace(position: position, in: array, ordinal: ordinal))
    position = session.read { UInt32(truncatingIfNeeded: $0.next(Int(position))) }
    ordinal += 1
    return value
  }

  private func end(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      .init(
        codingPath: session.path(to: array, adding: JSONKey(index: currentIndex)),
        debugDescription: "Unkeyed container is at end."))
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw end(Never.self) }
    guard session.word(DecodingPlace(position: position, in: array)).kind == .null else { return false }
    return try next { _, _ in true }
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.bool(at: $1) } }
  mutating func decode(_ type: String.Type) throws -> String { try next { try $0.string(at: $1) } }
  mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.double(at: $1) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.float(at: $1) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next { try $0.integer(type, at: $1) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next { try $0.integer(type, at: $1) } }
  // The witness of the other integer types, inlined for speed. The protocol has defaults for 128 bits, which would take
  // precedence.
  @inline(__always)
  mutating func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
    try next { try $0.integer(type, at: $1) }
  }
  mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
    try next { try $0.decode(type, at: $1) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try next { try JSONValueDecoder(session: $0, place: $1).container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try JSONValueDecoder(session: $0, place: $1).unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    try next((any Decoder).self) { JSONValueDecoder(session: $0, place: $1) }
  }
}
