import Foundation

/// A model of everything that backends send. `Generator.sample` creates its texts.
struct Sample: Decodable, Equatable {
  enum Color: String, Decodable { case red, green }
  enum Shape: Decodable, Equatable {
    case circle(radius: Double)
    case none
    case pair(Int, String)
  }
  struct Nested: Decodable, Equatable {
    var id: Int
    var name: String?
    var child: [Nested]?
  }
  class Base: Decodable, Equatable {
    var base = 0
    static func == (a: Base, b: Base) -> Bool { a.base == b.base }
  }
  final class Derived: Base {
    var own = ""
    private enum Keys: String, CodingKey { case own }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      own = try container.decode(String.self, forKey: .own)
      try super.init(from: container.superDecoder())
    }
  }

  var i: Int
  var i8: Int8?
  var i16: Int16?
  var i32: Int32?
  var i64: Int64?
  var u: UInt?
  var u8: UInt8?
  var u16: UInt16?
  var u32: UInt32?
  var u64: UInt64?
  var d: Double
  var f: Float?
  var b: Bool
  var s: String
  var o: String?
  var oo: Int??
  var list: [Int]
  var words: [String]?
  var doubles: [Double?]?
  var matrix: [[Double]]?
  var map: [String: Int]?
  var deep: [String: Nested]?
  var numbered: [Int: String]?
  var nested: Nested?
  var many: [Nested]?
  var color: Color?
  var shape: Shape?
  var base: Base?
  var derived: Derived?
  var date: Date?
  var url: URL?
  var data: Data?
  var decimal: Decimal?
  var set: Set<Int>?
}

/// A tree of arbitrary values.
indirect enum Tree: Decodable, Equatable {
  case null, bool(Bool), number(Double), string(String), array([Tree]), object([String: Tree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([Tree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: Tree].self))
    }
  }
}

/// A model with objects nested in arrays and objects.
struct Links: Decodable, Equatable {
  var a: [Links]?
}

/// A model with nested arrays.
struct Lists: Decodable, Equatable {
  var lists: [Lists]
  init(from decoder: any Decoder) throws { lists = try decoder.singleValueContainer().decode([Lists].self) }
}

/// The names that a keyed container reports.
struct Names: Decodable, Equatable {
  var names: Set<String>

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    names = Set(container.allKeys.map(\.stringValue))
    for key in container.allKeys where !container.contains(key) { names.insert("not found: \(key.stringValue)") }
  }
}

extension Generator {
  /// Returns a text for `Sample` that is valid in most places.
  mutating func sample() -> String {
    var members = [
      ("i", number(fits: true)), ("d", number()), ("b", one(["true", "false"])), ("s", string()),
      ("list", array((0..<below(4)).map { _ in "\(below(99))" })),
    ]
    for name in [
      "i8", "i16", "i32", "i64", "u", "u8", "u16", "u32", "u64", "f", "o", "oo", "words", "doubles", "matrix", "map",
      "deep", "numbered", "nested", "many", "color", "shape", "base", "derived", "date", "url", "data", "decimal",
      "set",
      "unknown",
    ] where rarely(3) { members.append((name, member(name))) }
    if rarely(12) { members[below(members.count)].1 = value(depth: 1) }
    if rarely(30) { members.remove(at: below(members.count)) }
    if rarely(20) { members.append((one(members).0, value(depth: 1))) }
    if !rarely(3) { members.shuffle(using: &self) }
    return object(members)
  }

  private mutating func number(fits: Bool) -> String { fits && !rarely(20) ? "\(below(1_000))" : number() }

  private mutating func member(_ name: String) -> String {
    if rarely(10) { return "null" }
    switch name {
    case "o": return string()
    case "words": return array((0..<below(4)).map { _ in "" }.map { _ in string() })
    case "doubles": return array((0..<below(4)).map { _ in "" }.map { _ in rarely(4) ? "null" : "\(double())" })
    case "matrix": return array([array(["1", "2.5"]), array([]), array([number()])])
    case "map": return object((0..<below(4)).map { ("a_\($0)", "\($0)") })
    case "deep": return object([("x_y", nested(2))])
    case "numbered": return object([("1", string()), (one(["2", "02", "x", ""]), string())])
    case "nested", "unknown": return nested(2)
    case "many": return array([nested(0), nested(1)])
    case "color": return one(["\"red\"", "\"green\"", "\"blue\"", "1"])
    case "shape":
      return one([
        #"{"circle":{"radius":2}}"#, #"{"none":{}}"#, #"{"pair":{"_0":1,"_1":"x"}}"#, #"{"pair":{"_0":1}}"#, "{}",
        #"{"circle":{"radius":2},"none":{}}"#, #"{"square":{}}"#,
      ])
    case "base": return one([#"{"base":3}"#, "{}", "[]"])
    case "derived": return one([#"{"own":"x","super":{"base":1}}"#, #"{"own":"x"}"#, #"{"super":{"base":1}}"#])
    case "date": return one(["0", "1577491200.5", "\"x\"", "true"])
    case "url": return one([#""https://a.b/c?d=e""#, #""""#, #""a b""#, "1"])
    case "data": return one([#""aGk=""#, #""!""#, #""""#, "[1]"])
    case "decimal": return one(["1.25", "-0.1", "123456789012345678901234567890", "1e-3", "\"1\"", number()])
    case "set": return "[1,2,1]"
    default: return number()
    }
  }

  private mutating func nested(_ depth: Int) -> String {
    var members = [("id", rarely(25) ? string() : "\(below(9))")]
    if rarely(2) { members.append(("name", string())) }
    if depth > 0, rarely(2) { members.append(("child", array([nested(depth - 1)]))) }
    return object(members)
  }
}
