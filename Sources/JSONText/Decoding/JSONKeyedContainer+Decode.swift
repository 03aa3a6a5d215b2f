extension JSONKeyedContainer {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try members.session.bool(at: place(key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try members.session.string(at: place(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try members.session.double(at: place(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try members.session.float(at: place(key)) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try members.session.integer(type, at: place(key))
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try members.session.integer(type, at: place(key))
  }
  // The witness of the other integer types, inlined for speed. The protocol has defaults for 128 bits, which would take
  // precedence.
  @inline(__always)
  func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, forKey key: Key) throws -> Number {
    try members.session.integer(type, at: place(key))
  }
  func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
    try members.session.decode(type, at: place(key))
  }
}

// The default implementations would search for the key three times.
extension JSONKeyedContainer {
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try members.present(key.stringValue).map { try members.session.bool(at: $0) }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try members.present(key.stringValue).map { try members.session.string(at: $0) }
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try members.present(key.stringValue).map { try members.session.double(at: $0) }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try members.present(key.stringValue).map { try members.session.float(at: $0) }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integer(type, ifPresent: key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integer(type, ifPresent: key) }
  func decodeIfPresent<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model? {
    try members.present(key.stringValue).map { try members.session.decode(type, at: $0) }
  }
  @inline(__always)
  private func integer<Number: FixedWidthInteger & Decodable>(
    _ type: Number.Type, ifPresent key: Key
  ) throws -> Number? {
    try members.present(key.stringValue).map { try members.session.integer(type, at: $0) }
  }
}
