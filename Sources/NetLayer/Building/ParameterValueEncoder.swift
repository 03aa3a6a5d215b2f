import PortableFoundation

/// Turns any `Encodable` into a `ParameterValue`.
struct ParameterValueEncoder: Sendable {
  var dates: DateEncoding = .deferred
  var data: DataEncoding = .base64
  var keys: KeyEncoding = .asIs
  /// Whether members that are `nil` become null instead of being left out.
  var keepsNil = false
  /// Whether what a class's parent encodes stands beside its own members instead of in a member `super`.
  var flattensSuper = false

  /// - Throws: `NetworkError` of kind `encoding` that names the place and the value.
  func encode(_ value: any Encodable) throws -> ParameterValue {
    do {
      let node = ParameterNode()
      try store(value, in: node, path: [])
      return node.value(keys: keys)
    } catch let error as EncodingError {
      throw Self.failure(error)
    }
  }

  func store(_ value: any Encodable, in node: ParameterNode, path: [any CodingKey]) throws {
    switch value {
    case let date as Date: try store(date, in: node, path: path)
    case let data as Data: try store(data, in: node, path: path)
    case let url as URL: node.set(.string(url.absoluteString))
    // Decimal encodes its mantissa and exponent; its digits are what is meant.
    case let decimal as Decimal:
      guard decimal.isFinite else { throw ParameterNodeEncoder.notFinite(decimal, path) }
      node.set(.number(decimal.description))
    default:
      try value.encode(to: ParameterNodeEncoder(node: node, options: self, codingPath: path))
      if node.isUntouched {
        throw EncodingError.invalidValue(value, .init(codingPath: path, debugDescription: "it encodes nothing"))
      }
    }
  }

  private func store(_ date: Date, in node: ParameterNode, path: [any CodingKey]) throws {
    let encoder = ParameterNodeEncoder(node: node, options: self, codingPath: path)
    switch dates {
    case .deferred: try date.encode(to: encoder)
    case .secondsSince1970: try date.timeIntervalSince1970.encode(to: encoder)
    case .millisecondsSince1970: try (date.timeIntervalSince1970 * 1000).encode(to: encoder)
    case .iso8601: node.set(.string(date.ISO8601Format()))
    case .custom(let text): node.set(.string(try text(date)))
    }
  }

  private func store(_ bytes: Data, in node: ParameterNode, path: [any CodingKey]) throws {
    switch data {
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

/// A place in the tree that is being written. Stays within one call of `encode`, so it needs no lock.
final class ParameterNode {
  private enum Content {
    case untouched
    case leaf(ParameterValue)
    case array([ParameterNode])
    case object([String: ParameterNode])
  }

  private var content = Content.untouched

  var isUntouched: Bool { if case .untouched = content { true } else { false } }

  /// How many elements an array has so far.
  var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }

  func set(_ value: ParameterValue) { content = .leaf(value) }

  /// Makes it an array, unless it is one.
  func becomeArray() { if case .array = content {} else { content = .array([]) } }

  /// Makes it an object, unless it is one: several containers of one encoder share their object.
  func becomeObject() { if case .object = content {} else { content = .object([:]) } }

  func append() -> ParameterNode {
    guard case .array(var nodes) = content else { return ParameterNode() }
    content = .untouched
    let node = ParameterNode()
    nodes.append(node)
    content = .array(nodes)
    return node
  }

  /// A fresh member, in place of one of the same name; the member itself if `sharing`.
  func member(_ name: String, sharing: Bool = false) -> ParameterNode {
    guard case .object(var members) = content else { return ParameterNode() }
    if sharing, let member = members[name] { return member }
    content = .untouched
    let node = ParameterNode()
    members[name] = node
    content = .object(members)
    return node
  }

  /// What has been written, its names as `keys` says, sorted by the name that is sent and then by the one given.
  func value(keys: KeyEncoding) -> ParameterValue {
    switch content {
    case .untouched: .object([])
    case .leaf(let value): value
    case .array(let nodes): .array(nodes.map { $0.value(keys: keys) })
    case .object(let members):
      .object(
        members.map { (name: keys.name($0.key), key: $0.key, node: $0.value) }
          .sorted { ($0.name, $0.key) < ($1.name, $1.key) }
          .map { ParameterValue.Member(name: $0.name, value: $0.node.value(keys: keys)) })
    }
  }
}
