import JSONText

struct ParameterNodeEncoder: Encoder {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let path: EncodingPath
  var codingPath: [any CodingKey] { path.keys }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeObject()
    return KeyedEncodingContainer(
      ParameterObjectEncoder<Key>(
        node: node, options: options, path: path,
        areKeysData: options.keepsDataKeys && DataKeys.contains(type)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeArray()
    return ParameterArrayEncoder(node: node, options: options, path: path)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ParameterNodeEncoder: SingleValueEncodingContainer {
  func encodeNil() { node.set(.null) }
  func encode(_ value: Bool) { node.set(.bool(value)) }
  func encode(_ value: String) { node.set(.string(value)) }
  // The protocol has defaults for 128 bits, which would take precedence, here and in the other containers.
  func encode(_ value: Int128) { node.set(.number(String(value))) }
  func encode(_ value: UInt128) { node.set(.number(String(value))) }
  // The witness of the other integer types.
  func encode(_ value: some FixedWidthInteger & Encodable) { node.set(.number(String(value))) }
  func encode(_ value: Double) throws { try float(value) }
  func encode(_ value: Float) throws { try float(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try options.store(value, in: node, path: path) }

  private func float<Value: BinaryFloatingPoint & LosslessStringConvertible & Encodable>(_ value: Value) throws {
    guard value.isFinite else { throw Self.notFinite(value, path) }
    node.set(.number(value.description))
  }

  static func notFinite(_ value: any Encodable, _ path: EncodingPath) -> EncodingError {
    .invalidValue(
      value, .init(codingPath: path.keys, debugDescription: "a number must be finite"))
  }
}

private struct ParameterObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let path: EncodingPath
  var codingPath: [any CodingKey] { path.keys }
  let areKeysData: Bool

  func encodeNil(forKey key: Key) { node.member(key.stringValue, isData: areKeysData).set(.null) }

  func encode(_ value: Int128, forKey key: Key) throws {
    node.member(key.stringValue, isData: areKeysData).set(.number(String(value)))
  }
  func encode(_ value: UInt128, forKey key: Key) throws {
    node.member(key.stringValue, isData: areKeysData).set(.number(String(value)))
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try options.store(value, in: node.member(key.stringValue, isData: areKeysData), path: path.adding(key))
  }

  // One overload per type: otherwise the protocol's defaults, which omit nil, would take precedence over the generic
  // overload.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try optional(value, key) }
  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try optional(value, key) }

  private func optional<Value: Encodable>(_ value: Value?, _ key: Key) throws {
    if let value { try encode(value, forKey: key) } else if options.keepsNil { encodeNil(forKey: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(for: key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(for: key).unkeyedContainer() }

  func superEncoder() -> any Encoder {
    if options.flattensSuper { return ParameterNodeEncoder(node: node, options: options, path: path) }
    return ParameterNodeEncoder(
      node: node.member("super", sharing: true), options: options, path: path.adding(ParameterKey("super")))
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

  // Two requests for the same key return containers that write into the same member.
  private func encoder(for key: Key) -> ParameterNodeEncoder {
    ParameterNodeEncoder(
      node: node.member(key.stringValue, sharing: true, isData: areKeysData), options: options,
      path: path.adding(key))
  }
}

private struct ParameterArrayEncoder: UnkeyedEncodingContainer {
  let node: ParameterNode
  let options: ParameterValueEncoder
  let path: EncodingPath
  var codingPath: [any CodingKey] { path.keys }
  var count: Int { node.count }

  func encodeNil() { node.append().set(.null) }
  func encode(_ value: Int128) { node.append().set(.number(String(value))) }
  func encode(_ value: UInt128) { node.append().set(.number(String(value))) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let index = count
    try options.store(value, in: node.append(), path: path.adding(ParameterKey(index: index)))
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    next().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  func superEncoder() -> any Encoder { next() }

  private func next() -> ParameterNodeEncoder {
    let path = path.adding(ParameterKey(index: count))
    return ParameterNodeEncoder(node: node.append(), options: options, path: path)
  }
}
