/// The keyed container of an object.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: JSONMembers

  var codingPath: [any CodingKey] { members.codingPath }
  var allKeys: [Key] { members.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members.find(key.stringValue) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { members.session.word(try place(key)).kind == .null }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { members.decoder(JSONKey("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { members.decoder(key) }

  /// Returns the place of a required member.
  @inline(__always)
  func place(_ key: Key) throws -> DecodingPlace {
    guard let place = members.find(key.stringValue) else { throw members.missing(key) }
    return place
  }

  private func decoder(_ key: Key) throws -> JSONValueDecoder {
    JSONValueDecoder(session: members.session, place: try place(key))
  }
}
