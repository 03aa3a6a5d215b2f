/// The decoder passed to models: a session and a place, stored inline without allocation.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let session: DecodingSession
  let place: DecodingPlace

  var codingPath: [any CodingKey] { session.path(to: place) }
  var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard session.word(place).kind == .object else { throw session.mismatch(container: "keyed", at: place) }
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
  func decode(_ type: Int.Type) throws -> Int { try session.integer(type, at: place) }
  func decode(_ type: Int8.Type) throws -> Int8 { try session.integer(type, at: place) }
  func decode(_ type: Int16.Type) throws -> Int16 { try session.integer(type, at: place) }
  func decode(_ type: Int32.Type) throws -> Int32 { try session.integer(type, at: place) }
  func decode(_ type: Int64.Type) throws -> Int64 { try session.integer(type, at: place) }
  func decode(_ type: Int128.Type) throws -> Int128 { try session.integer(type, at: place) }
  func decode(_ type: UInt.Type) throws -> UInt { try session.integer(type, at: place) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try session.integer(type, at: place) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try session.integer(type, at: place) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try session.integer(type, at: place) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try session.integer(type, at: place) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try session.integer(type, at: place) }
  func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try session.decode(type, at: place) }
}
