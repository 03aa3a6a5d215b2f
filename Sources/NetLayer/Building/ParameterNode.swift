import JSONText

/// A node of the tree during encoding. It stays within one call of `encode`, so it needs no lock.
final class ParameterNode {
  private enum Content {
    case untouched
    case leaf(ParameterValue)
    case array([ParameterNode])
    case object([Member])
  }

  private struct Member {
    var key: ParameterName
    var node: ParameterNode
  }

  private var content = Content.untouched
  /// Whether the name of this member is data, which is sent unchanged.
  private var hasDataName = false
  /// The positions of the members by key, in an object with many; empty in others, which are searched.
  private var positions: [ParameterName: Int] = [:]

  var isUntouched: Bool { if case .untouched = content { true } else { false } }

  var isObject: Bool { if case .object = content { true } else { false } }

  var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }

  func set(_ value: ParameterValue) { content = .leaf(value) }

  func becomeArray() { if case .array = content {} else { content = .array([]) } }

  /// Converts the node to an object, unless it is one: several containers of one encoder share their object.
  func becomeObject() {
    if case .object = content {} else { (content, positions) = (.object([]), [:]) }
  }

  func append() -> ParameterNode {
    guard case .array(var nodes) = content else { return ParameterNode() }
    content = .untouched
    let node = ParameterNode()
    nodes.append(node)
    content = .array(nodes)
    return node
  }

  /// Returns a new member, which replaces a member of the same name, or the existing member if `sharing`.
  func member(_ name: String, sharing: Bool = false, isData: Bool = false) -> ParameterNode {
    guard case .object(var members) = content else { return ParameterNode() }
    let name = ParameterName(text: name)
    let position = position(of: name, in: members)
    if sharing, let position { return members[position].node }
    content = .untouched
    let node = ParameterNode()
    node.hasDataName = isData
    if let position {
      members[position] = Member(key: name, node: node)
    } else {
      if !positions.isEmpty { positions[name] = members.count }
      members.append(Member(key: name, node: node))
    }
    content = .object(members)
    return node
  }

  private func position(of name: ParameterName, in members: [Member]) -> Int? {
    guard members.count > 16 else { return members.firstIndex { $0.key == name } }
    if positions.isEmpty {
      for (index, member) in members.enumerated() { positions[member.key] = index }
    }
    return positions[name]
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
        Self.sorted(members, keys).map { ParameterValue.Member(name: $0.name.text, value: $0.node.value(keys: keys)) })
    }
  }

  /// Returns the value as JSON, with names as those of `value(keys:)`.
  func json(keys: JSONParameterEncoder.KeyEncoding) throws -> [UInt8] {
    var text: [UInt8] = []
    try write(to: &text, keys)
    return text
  }

  private func write(to text: inout [UInt8], _ keys: JSONParameterEncoder.KeyEncoding) throws {
    switch content {
    case .untouched: text.append(contentsOf: "{}".utf8)
    case .leaf(let value): Self.write(value, to: &text)
    case .array(let nodes):
      text.append(UInt8(ascii: "["))
      for (index, node) in nodes.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        try node.write(to: &text, keys)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      var previous: ParameterName?
      for (name, _, node) in Self.sorted(members, keys) {
        if let previous {
          guard name != previous else {
            throw NetworkError(
              kind: .encoding, reason: "two parameters have the encoded name \(name.text.debugDescription); rename one")
          }
          text.append(UInt8(ascii: ","))
        }
        previous = name
        JSON.quote(name.text, into: &text)
        text.append(UInt8(ascii: ":"))
        try node.write(to: &text, keys)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ value: ParameterValue, to text: inout [UInt8]) {
    switch value {
    case .null: text.append(contentsOf: "null".utf8)
    case .bool(let flag): text.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number): text.append(contentsOf: number.utf8)
    case .string(let string): JSON.quote(string, into: &text)
    case .array, .object: assertionFailure("containers are nodes")
    }
  }

  private typealias Named = (name: ParameterName, key: ParameterName, node: ParameterNode)

  private static func sorted(_ members: [Member], _ keys: JSONParameterEncoder.KeyEncoding) -> [Named] {
    let named = members.map { member -> Named in
      (
        member.node.hasDataName ? member.key : ParameterName(text: keys.name(member.key.text)), member.key, member.node
      )
    }
    return named.sorted { $0.name < $1.name || ($0.name == $1.name && $0.key < $1.key) }
  }
}
