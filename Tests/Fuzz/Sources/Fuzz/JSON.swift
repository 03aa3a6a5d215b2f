import Foundation
import NetLayer

/// Parses the bytes, reads each value with its getters and decoders, and compares the results.
func fuzzJSON(_ data: Data) {
  guard let json = try? JSON(parsing: data) else { return }
  walk(json)
  check((try? JSON(parsing: json.data)) == json, "the text of a value is another value")
  // Invalid UTF-8 in a string that is never read is lost in the printed text.
  let isUnicode = String(validating: json.data, as: UTF8.self) != nil
  check(!isUnicode || (try? JSON(parsing: json.pretty())) == json, "pretty-printed, it is another value")
  for decoder in decoders {
    _ = try? json.decode(Everything.self, using: decoder)
    _ = try? json.decode([Everything].self, using: decoder)
    _ = try? json.decode([String: Everything?].self, using: decoder)
    _ = try? json.decode([Int: JSON].self, using: decoder)
  }
  guard let tree = try? json.decode(Tree.self), case .value(let count) = tree else { return }
  check(count > 0, "a tree without values")
}

private let decoders = [
  JSONModelDecoder.default,
  JSONModelDecoder {
    $0.keyDecodingStrategy = .convertFromSnakeCase
    $0.dateDecodingStrategy = .iso8601WithOrWithoutFractions
  },
  JSONModelDecoder {
    $0.dataDecodingStrategy = .deferredToData
    $0.keyDecodingStrategy = .custom { $0[$0.count - 1] }
    $0.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-", nan: "")
  },
]

private func walk(_ json: JSON) {
  _ = (json.int, json.integer(UInt128.self), json.double, json.decimal, json.bool, json.description)
  if let string = json.string { check(JSON(stringLiteral: string) == json, "a string is not what it stands for") }
  if let double = json.double { check(double == Double(json.description), "\(json) was read as \(double)") }
  if let array = json.array {
    check(array.count == json.count, "an array's count")
    if let last = array.indices.last { check(json[last].offset == array[last].offset, "an index leads elsewhere") }
    array.forEach(walk)
  }
  for member in json.members ?? [] {
    let (key, value) = (member.key, member.value)
    // The key may replace one that is not Unicode, which cannot be looked up.
    check(key.contains("\u{FFFD}") || json[key].offset == value.offset, "a key leads elsewhere")
    walk(value)
  }
}

private struct Everything: Decodable {
  var a: Int8?
  var b: UInt64?
  var c: Double?
  var d: Float?
  var e: String?
  var f: Bool?
  var g: [Int]?
  var h: [String: [Double]]?
  var i: Date?
  var j: URL?
  var k: Data?
  var l: Decimal?
  var m: [Everything]?
  var n: JSON?
  var firstName: String?
}

/// The number of values, counted with containers and failed attempts to decode.
private enum Tree: Decodable {
  case value(Int)

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      var count = 1
      while !list.isAtEnd {
        guard case .value(let inner) = try list.decode(Tree.self) else { continue }
        count += inner
      }
      self = .value(count)
    } else if let members = try? decoder.singleValueContainer().decode([String: Tree].self) {
      self = .value(
        members.values.reduce(1) { count, tree in
          guard case .value(let inner) = tree else { return count }
          return count + inner
        })
    } else {
      let container = try decoder.singleValueContainer()
      if !container.decodeNil(), (try? container.decode(Bool.self)) == nil, (try? container.decode(String.self)) == nil,
        (try? container.decode(Double.self)) == nil
      {
        _ = try? container.decode(Int.self)
      }
      self = .value(1)
    }
  }
}
