import JSONText
import PortableFoundation

/// An encoder that converts any `Encodable` into a `ParameterValue`.
struct ParameterValueEncoder: Sendable {
  var dates: JSONParameterEncoder.DateEncoding = .deferred
  var data: JSONParameterEncoder.DataEncoding = .base64
  var keys: JSONParameterEncoder.KeyEncoding = .asIs
  /// Whether `nil` members become null instead of being omitted.
  var keepsNil = false
  /// Whether `keys` leaves the keys of dictionaries and `JSON` values unchanged.
  var keepsDataKeys = true
  /// Whether the members of a superclass are merged into the object instead of a member `super`.
  var flattensSuper = false

  /// Converts `value`.
  ///
  /// - Throws: `NetworkError` of kind `encoding` that names the path and the value.
  func encode(_ value: any Encodable) throws -> ParameterValue {
    do {
      let node = ParameterNode()
      try store(value, in: node, path: [])
      return node.value(keys: keys)
    } catch let error as EncodingError {
      throw Self.failure(error)
    }
  }

  /// Writes `value` into `node`. `path` is used only by values that encode themselves, and by errors.
  func store(_ value: any Encodable, in node: ParameterNode, path: @autoclosure () -> [any CodingKey]) throws {
    switch value {
    // The most frequent types first, which would write the same.
    case let text as String: node.set(.string(text))
    case let number as Int: node.set(.number(String(number)))
    case let flag as Bool: node.set(.bool(flag))
    case let date as Date: try store(date, in: node, path: path())
    case let data as Data: try store(data, in: node, path: path())
    case let url as URL: node.set(.string(url.absoluteString))
    // `Decimal` encodes itself as mantissa and exponent; write its digits instead.
    case let decimal as Decimal:
      guard decimal.isFinite else { throw ParameterNodeEncoder.notFinite(decimal, path()) }
      node.set(.number(decimal.description))
    default:
      try value.encode(to: ParameterNodeEncoder(node: node, options: self, codingPath: path()))
      if node.isUntouched {
        throw EncodingError.invalidValue(
          value, .init(codingPath: path(), debugDescription: "its encode(to:) writes no value"))
      }
    }
  }

  private func store(_ date: Date, in node: ParameterNode, path: [any CodingKey]) throws {
    let encoder = ParameterNodeEncoder(node: node, options: self, codingPath: path)
    switch dates.format {
    case .deferred: try date.secondsSince2001.encode(to: encoder)
    case .secondsSince1970: try date.secondsSince1970.encode(to: encoder)
    case .millisecondsSince1970: try date.millisecondsSince1970.encode(to: encoder)
    case .iso8601:
      guard let text = date.iso8601Text() else {
        throw EncodingError.invalidValue(
          "the date \(date.timeIntervalSince1970) s after 1970",
          .init(codingPath: path, debugDescription: "ISO 8601 has only the years 0000 to 9999; send a valid date"))
      }
      node.set(.string(text))
    case .custom(let text): node.set(.string(try text(date)))
    }
  }

  private func store(_ bytes: Data, in node: ParameterNode, path: [any CodingKey]) throws {
    switch data.format {
    case .base64: node.set(.string(bytes.base64EncodedString()))
    case .deferred: try bytes.encode(to: ParameterNodeEncoder(node: node, options: self, codingPath: path))
    case .custom(let text): node.set(.string(try text(bytes)))
    }
  }

  private static func failure(_ error: EncodingError) -> NetworkError {
    guard case .invalidValue(let value, let context) = error else {
      return NetworkError(kind: .encoding, reason: "the parameters cannot be encoded: \(error)", underlying: error)
    }
    let path = context.codingPath.map(\.stringValue)
    let place = path.isEmpty ? "the parameters" : "parameter \(path.joined(separator: "."))"
    return NetworkError(
      kind: .encoding, reason: "\(place) cannot be encoded: \(value): \(context.debugDescription)", underlying: error,
      codingPath: path)
  }
}

/// A node of the tree during encoding. It stays within one call of `encode`, so it needs no lock.
final class ParameterNode {
  private enum Content {
    case untouched
    case leaf(ParameterValue)
    case array([ParameterNode])
    case object([String: ParameterNode])
  }

  private var content = Content.untouched
  /// Whether the name of this member is data, which is sent unchanged.
  private var hasDataName = false

  var isUntouched: Bool { if case .untouched = content { true } else { false } }

  /// The number of elements in the array so far.
  var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }

  func set(_ value: ParameterValue) { content = .leaf(value) }

  /// Converts the node to an array, unless it is one.
  func becomeArray() { if case .array = content {} else { content = .array([]) } }

  /// Converts the node to an object, unless it is one: several containers of one encoder share their object.
  func becomeObject() { if case .object = content {} else { content = .object([:]) } }

  func append() -> ParameterNode {
    guard case .array(var nodes) = content else { return ParameterNode() }
    content = .untouched
    let node = ParameterNode()
    nodes.append(node)
    content = .array(nodes)
    return node
  }

  /// Returns a new member, which replaces a member of the same name, or the existing member if `sharing`. `isData`
  /// states whether its name is data.
  func member(_ name: String, sharing: Bool = false, isData: Bool = false) -> ParameterNode {
    guard case .object(var members) = content else { return ParameterNode() }
    if sharing, let member = members[name] { return member }
    content = .untouched
    let node = ParameterNode()
    node.hasDataName = isData
    members[name] = node
    content = .object(members)
    return node
  }

  /// Returns the written value, with names in the format of `keys`, sorted by the sent name and then by the original
  /// name.
  func value(keys: JSONParameterEncoder.KeyEncoding) -> ParameterValue {
    switch content {
    case .untouched: .object([])
    case .leaf(let value): value
    case .array(let nodes): .array(nodes.map { $0.value(keys: keys) })
    case .object(let members):
      .object(
        members.map { (name: $0.value.hasDataName ? $0.key : keys.name($0.key), key: $0.key, node: $0.value) }
          .sorted { ($0.name, $0.key) < ($1.name, $1.key) }
          .map { ParameterValue.Member(name: $0.name, value: $0.node.value(keys: keys)) })
    }
  }
}
