/// The parameters of a call by name: a dictionary literal of encodable values, or one encodable value.
///
/// ```swift
/// let literal: Parameters = ["page": 1, "tag": tag, "filter": ["liked": true, "by": "date"] as Parameters]
/// let value = Parameters(SearchQuery(page: 1))
/// ```
/// A `nil` value omits its key, unless `URLParameterEncoder.nils` overrides that, and a common parameter of the same
/// name.
public struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
  /// The type of a parameter; `nil` omits it.
  public typealias Value = (any Sendable & Encodable)?

  /// One source of parameters; later layers take precedence.
  enum Layer: Sendable {
    case entries([ParameterName: Value])
    case value(any Sendable & Encodable)
  }

  private(set) var layers: [Layer]

  /// Creates an empty set of parameters.
  public init() { layers = [] }

  /// Creates parameters from a literal. If a name occurs twice, the last value is used.
  public init(dictionaryLiteral elements: (String, Value)...) {
    var entries = [ParameterName: Value](minimumCapacity: elements.count)
    for (name, value) in elements { entries.updateValue(value, forKey: ParameterName(text: name)) }
    layers = entries.isEmpty ? [] : [.entries(entries)]
  }

  /// Creates parameters from the members that `value` encodes. A value that is not an object, such as an array, can
  /// only be sent as JSON.
  public init(_ value: some Sendable & Encodable) {
    if let parameters = value as? Parameters { self = parameters } else { layers = [.value(value)] }
  }

  /// Unavailable: values of `Any` may be of types that cannot be sent.
  @available(
    *, unavailable,
    message: "convert it: try Parameters(JSON(parsing: JSONSerialization.data(withJSONObject: dictionary)))"
  )
  public init(_ dictionary: [String: Any]) { self.init() }

  /// The parameter `name` of the topmost layer, which must be a dictionary. The members of an encodable value are not
  /// accessible.
  public subscript(name: String) -> Value {
    get {
      guard case .entries(let entries)? = layers.last else { return nil }
      return entries[ParameterName(text: name)] ?? nil
    }
    set {
      if case .entries(var entries)? = layers.last {
        entries.updateValue(newValue, forKey: ParameterName(text: name))
        layers[layers.count - 1] = .entries(entries)
      } else {
        layers.append(.entries([ParameterName(text: name): newValue]))
      }
    }
  }

  /// Sets the parameter `name` to `nil`, so that it is not sent even if a lower layer has it.
  mutating func omit(_ name: String) { self[name] = Value.none }

  /// Whether there is nothing to send.
  public var isEmpty: Bool {
    layers.allSatisfy { layer in
      guard case .entries(let entries) = layer else { return false }
      return entries.values.allSatisfy { $0 == nil }
    }
  }

  /// Returns these parameters combined with `common` ones. If both have a name, these parameters take precedence.
  public func over(_ common: Parameters) -> Parameters {
    if common.layers.isEmpty { return self }
    var result = common
    for layer in layers {
      if case .entries(let own) = layer, case .entries(let below)? = result.layers.last {
        result.layers[result.layers.count - 1] = .entries(below.merging(own) { $1 })
      } else {
        result.layers.append(layer)
      }
    }
    return result
  }

  var split: (below: Parameters, top: Parameters) {
    var (below, top) = (self, Parameters())
    if let last = below.layers.popLast() { top.layers = [last] }
    return (below, top)
  }
}

extension Parameters: Encodable {
  /// Encodes an object of all parameters without `nil` values. A single value that is not an object is encoded
  /// unchanged.
  public func encode(to encoder: any Encoder) throws {
    if let own = encoder as? ParameterNodeEncoder {
      return try store(in: own.node, by: own.options, path: own.path)
    }
    if layers.isEmpty { _ = encoder.container(keyedBy: ParameterKey.self) }
    for layer in layers {
      switch layer {
      case .value(let value): try value.encode(to: encoder)
      case .entries(let entries):
        var container = encoder.container(keyedBy: ParameterKey.self)
        for (name, value) in entries {
          if let value { try container.encode(value, forKey: ParameterKey(name.text)) }
        }
      }
    }
  }

  /// Writes the same into `node`. `encoder` has its own rules for dates and other types, instead of their `encode(to:)`.
  private func store(in node: ParameterNode, by encoder: ParameterValueEncoder, path: EncodingPath) throws {
    if layers.isEmpty { node.becomeObject() }
    for layer in layers {
      switch layer {
      case .value(let value): try encoder.store(value, in: node, path: path)
      case .entries(let entries):
        node.becomeObject()
        for (name, value) in entries {
          if let value {
            try encoder.store(value, in: node.member(name.text), path: path.adding(ParameterKey(name.text)))
          } else if encoder.keepsNil {
            node.member(name.text).set(.null)
          }
        }
      }
    }
  }
}

/// A name that is compared byte by byte, as servers do (RFC 8259 §8.3). `String` holds both spellings of `é` for equal.
struct ParameterName: Hashable {
  let text: String

  static func == (a: Self, b: Self) -> Bool { a.text == b.text && a.text.utf8.elementsEqual(b.text.utf8) }

  static func < (a: Self, b: Self) -> Bool {
    a.text < b.text || (a.text == b.text && a.text.utf8.lexicographicallyPrecedes(b.text.utf8))
  }
}

struct ParameterKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(index: Int) { (stringValue, intValue) = (String(index), index) }
  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { self.init(index: intValue) }
}
