/// The `Encoder` that writes into a `ParameterNode`.
struct ParameterNodeEncoder: Encoder {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeObject()
    return KeyedEncodingContainer(ParameterObjectEncoder<Key>(node: node, options: options, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeArray()
    return ParameterArrayEncoder(node: node, options: options, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ParameterNodeEncoder: SingleValueEncodingContainer {
  func encodeNil() { node.set(.null) }
  func encode(_ value: Bool) { node.set(.bool(value)) }
  func encode(_ value: String) { node.set(.string(value)) }
  func encode(_ value: Int) { number(value) }
  func encode(_ value: Int8) { number(value) }
  func encode(_ value: Int16) { number(value) }
  func encode(_ value: Int32) { number(value) }
  func encode(_ value: Int64) { number(value) }
  func encode(_ value: UInt) { number(value) }
  func encode(_ value: UInt8) { number(value) }
  func encode(_ value: UInt16) { number(value) }
  func encode(_ value: UInt32) { number(value) }
  func encode(_ value: UInt64) { number(value) }
  func encode(_ value: Double) throws { try float(value) }
  func encode(_ value: Float) throws { try float(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try options.store(value, in: node, path: codingPath) }

  private func number(_ value: some FixedWidthInteger) { node.set(.number(String(value))) }

  private func float<Value: BinaryFloatingPoint & LosslessStringConvertible & Encodable>(_ value: Value) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "there is no text for a number that is not finite"))
    }
    node.set(.number(value.description))
  }
}

private struct ParameterObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { node.member(name(key)).set(.null) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try options.store(value, in: node.member(name(key)), path: codingPath + [key])
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(for: key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(for: key).unkeyedContainer() }

  func superEncoder() -> any Encoder {
    ParameterNodeEncoder(
      node: node.member("super", sharing: true), options: options, codingPath: codingPath + [ParameterKey("super")])
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

  // Asked twice for the same key, both containers write into the same member.
  private func encoder(for key: Key) -> ParameterNodeEncoder {
    ParameterNodeEncoder(
      node: node.member(name(key), sharing: true), options: options, codingPath: codingPath + [key])
  }

  private func name(_ key: Key) -> String { options.keys.name(key.stringValue) }
}

private struct ParameterArrayEncoder: UnkeyedEncodingContainer {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() { node.append().set(.null) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let path = codingPath + [ParameterKey(index: count)]
    try options.store(value, in: node.append(), path: path)
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    next().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  func superEncoder() -> any Encoder { next() }

  private func next() -> ParameterNodeEncoder {
    let path = codingPath + [ParameterKey(index: count)]
    return ParameterNodeEncoder(node: node.append(), options: options, codingPath: path)
  }
}
