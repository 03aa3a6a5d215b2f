import JSONText
import PortableFoundation

/// An encoder that converts any `Encodable` into a `ParameterNode`. A class, so that containers share the options.
final class ParameterValueEncoder: Sendable {
  let dates: JSONParameterEncoder.DateEncoding
  let data: JSONParameterEncoder.DataEncoding
  let keys: JSONParameterEncoder.KeyEncoding
  /// Whether `nil` members become null instead of being omitted.
  let keepsNil: Bool
  /// Whether `keys` leaves the keys of dictionaries and `JSON` values unchanged.
  let keepsDataKeys: Bool
  /// Whether the members of a superclass are merged into the object instead of a member `super`.
  let flattensSuper: Bool

  init(
    dates: JSONParameterEncoder.DateEncoding = .deferred, data: JSONParameterEncoder.DataEncoding = .base64,
    keys: JSONParameterEncoder.KeyEncoding = .asIs, keepsNil: Bool = false, keepsDataKeys: Bool = true,
    flattensSuper: Bool = false
  ) {
    (self.dates, self.data, self.keys) = (dates, data, keys)
    (self.keepsNil, self.keepsDataKeys, self.flattensSuper) = (keepsNil, keepsDataKeys, flattensSuper)
  }

  func encode(_ value: any Encodable) throws -> ParameterValue { try node(of: value).value(keys: keys) }

  /// Converts `value` into a tree with unconverted names.
  func node(of value: any Encodable) throws -> ParameterNode {
    do {
      let node = ParameterNode()
      try store(value, in: node, path: EncodingPath())
      return node
    } catch let error as EncodingError {
      throw Self.failure(error)
    }
  }

  /// Writes `value` into `node`. `path` is used only by values that encode themselves, and by errors.
  func store<Value: Encodable>(
    _ value: Value, in node: ParameterNode, path: @autoclosure () -> EncodingPath
  ) throws {
    // The most frequent types first, which would write the same. Comparing types is faster than casting values.
    if let text = Self.same(value, as: String.self) {
      node.set(.string(text))
    } else if let number = Self.same(value, as: Int.self) {
      node.set(.number(String(number)))
    } else if let flag = Self.same(value, as: Bool.self) {
      node.set(.bool(flag))
    } else if let number = Self.same(value, as: Double.self) {
      guard number.isFinite else { throw ParameterNodeEncoder.notFinite(number, path()) }
      node.set(.number(number.description))
    } else if let date = Self.same(value, as: Date.self) {
      try store(date, in: node, path: path())
    } else if let data = Self.same(value, as: Data.self) {
      try store(data, in: node, path: path())
    } else if let url = Self.same(value, as: URL.self) {
      node.set(.string(url.absoluteString))
    } else if let decimal = Self.same(value, as: Decimal.self) {
      // `Decimal` encodes itself as mantissa and exponent; write its digits instead.
      guard decimal.isFinite else { throw ParameterNodeEncoder.notFinite(decimal, path()) }
      node.set(.number(decimal.description))
    } else {
      try value.encode(to: ParameterNodeEncoder(node: node, options: self, path: path()))
      if node.isUntouched {
        throw EncodingError.invalidValue(
          value, .init(codingPath: path().keys, debugDescription: "its encode(to:) writes no value"))
      }
    }
  }

  @inline(__always)
  private static func same<Value, Other>(_ value: Value, as type: Other.Type) -> Other? {
    Value.self == Other.self ? unsafeBitCast(value, to: type) : nil
  }

  private func store(_ date: Date, in node: ParameterNode, path: EncodingPath) throws {
    let encoder = ParameterNodeEncoder(node: node, options: self, path: path)
    switch dates.format {
    case .deferred: try date.secondsSince2001.encode(to: encoder)
    case .secondsSince1970: try date.secondsSince1970.encode(to: encoder)
    case .millisecondsSince1970: try date.millisecondsSince1970.encode(to: encoder)
    case .iso8601:
      guard let text = date.iso8601Text() else {
        throw EncodingError.invalidValue(
          "the date \(date.timeIntervalSince1970) s after 1970",
          .init(codingPath: path.keys, debugDescription: "ISO 8601 has only the years 0000 to 9999; send a valid date"))
      }
      node.set(.string(text))
    case .custom(let text): node.set(.string(try text(date)))
    }
  }

  private func store(_ bytes: Data, in node: ParameterNode, path: EncodingPath) throws {
    switch data.format {
    case .base64: node.set(.string(bytes.base64EncodedString()))
    case .deferred: try bytes.encode(to: ParameterNodeEncoder(node: node, options: self, path: path))
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
