/// The decoder passed to models: a session and a place, stored inline without allocation.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let session: DecodingSession
  let place: DecodingPlace

  var codingPath: [any CodingKey] { session.path(to: place) }
  var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard session.word(place).kind == .object else { throw session.mismatch(container: "keyed", at: place) }
    // A dictionary that decodes itself, because its keys are not strings, or a wrapper calls its `init(from:)`.
    let isDictionary = session.options.convertsKeys && DataKeys.isOfDictionary(type)
    let session = isDictionary ? session.decoding(dictionary: place) : session
    return KeyedDecodingContainer(JSONKeyedContainer<Key>(members: JSONMembers(session, place)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard session.word(place).kind == .array else { throw session.mismatch(container: "unkeyed", at: place) }
    return JSONUnkeyedContainer(session, place)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { session.word(place).kind == .null }

  func decode(_ type: Bool.Type) throws -> Bool { try session.bool(at: place) }
  func decode(_ type: String.Type) throws -> String { try session.string(at: place) }
  func decode(_ type: Double.Type) throws -> Double { try session.double(at: place) }
  func decode(_ type: Float.Type) throws -> Float { try session.float(at: place) }
  func decode(_ type: Int128.Type) throws -> Int128 { try session.integer(type, at: place) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try session.integer(type, at: place) }
  // The witness of the other integer types, inlined for speed. The protocol has defaults for 128 bits, which would take
  // precedence.
  @inline(__always)
  func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
    try session.integer(type, at: place)
  }
  func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try session.decode(type, at: place) }
}
