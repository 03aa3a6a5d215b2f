/// The keys that are data, in contrast to the names that a type declares: those of a `Dictionary` and of a `JSON` value.
/// A key strategy does not convert them.
package enum DataKeys {
  /// Returns whether a container with keys of this type contains data.
  package static func contains<Key: CodingKey>(_ type: Key.Type) -> Bool {
    if type == JSONKey.self { return true }
    return isOfDictionary(type)
  }

  /// Returns whether a `Dictionary` encodes and decodes itself with keys of this type.
  static func isOfDictionary<Key: CodingKey>(_ type: Key.Type) -> Bool { ObjectIdentifier(type) == dictionaryKey }

  /// The type of these keys, which has no public name: the one that a dictionary asks a decoder for.
  private static let dictionaryKey: ObjectIdentifier? = {
    let probe = Probe()
    _ = try? [String: Bool](from: probe)
    return probe.key
  }()

  private final class Probe: Decoder {
    struct Refusal: Error {}

    var key: ObjectIdentifier?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      key = ObjectIdentifier(type)
      throw Refusal()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Refusal() }
  }
}
