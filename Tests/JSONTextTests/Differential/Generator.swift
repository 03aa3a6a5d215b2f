import Foundation
import Races

/// A generator of random JSON from a seed.
struct Generator: RandomNumberGenerator {
  private var numbers: SplitMix64

  init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func one<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
  /// Returns `true` once in `times`, on average.
  mutating func rarely(_ times: Int) -> Bool { below(times) == 0 }

  mutating func double() -> Double {
    switch below(5) {
    case 0: return Double(below(2_000)) - 1_000
    case 1: return Double(below(2_000_000)) / 1_000
    case 2: return Double(below(1 << 40)) / Double(1 << below(30))
    case 3: return (Double(below(1 << 53)) / Double(1 << 53)) * (rarely(2) ? 1 : 1e6)
    default:
      let any = Double(bitPattern: next())
      return any.isFinite ? any : 0
    }
  }

  /// Returns a number in a random notation, except `0e5`, which Foundation rejects.
  mutating func number() -> String {
    switch below(12) {
    case 0: return "\(below(300))"
    case 1: return "\(below(300) - 150)"
    case 2: return one(["0", "-0", "0.0", "-0.0", "1e0", "1.0", "-1.00", "1E2", "12e-1", "1.5e3", "2.0e+1"])
    case 3: return "\(Int64(truncatingIfNeeded: next()))"
    case 4: return "\(next())"
    case 5: return "\(next())\(below(1_000))"
    case 6: return "\(Double(bitPattern: next()).isFinite ? double() : 1)"
    case 7: return one(["127", "128", "-128", "-129", "255", "256", "32767", "32768", "65536", "2147483648"])
    case 8:
      return one([
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "9007199254740993", "9007199254740993.0", "1e19", "1e18",
      ])
    case 9: return "\(below(1_000_000)).\(next())"
    case 10: return "\(one(["-", ""]))\(below(10)).\(below(100_000))e\(below(40) - 20)"
    default: return double().description
    }
  }

  mutating func string() -> String {
    var text = ""
    for _ in 0..<(rarely(8) ? below(40) : below(9)) {
      switch below(14) {
      case 0: text += one(["\\n", "\\t", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r"])
      case 1: text += "\\u00\(one(["41", "e9", "E9", "0a", "7F"]))"
      case 2: text += one(["\\uD83D\\uDE00", "\\u4F60", "\\u0000", "\\uFFFF", "\\u20ac"])
      case 3: text += one(["é", "网", "😀", "\u{7F}", "ß", "\u{2028}"])
      default: text.unicodeScalars.append(UnicodeScalar(UInt8(97 + below(26))))
      }
    }
    return "\"\(text)\""
  }

  mutating func space() -> String { rarely(6) ? one([" ", "\n", "\t", "\r\n", "  "]) : "" }

  /// Returns any value at most `depth` levels deep.
  mutating func value(depth: Int) -> String {
    switch below(depth > 0 ? 10 : 6) {
    case 0: return "null"
    case 1: return one(["true", "false"])
    case 2, 3: return number()
    case 4, 5: return string()
    case 6, 7: return array((0..<below(5)).map { _ in "" }.map { _ in value(depth: depth - 1) })
    default: return object((0..<below(5)).map { ("k\($0)", value(depth: depth - 1)) })
    }
  }

  mutating func array(_ elements: [String]) -> String {
    "[" + space() + elements.map { $0 + space() }.joined(separator: "," + space()) + "]"
  }

  mutating func object(_ members: [(String, String)]) -> String {
    let members = members.map { key, value in "\"\(escaped(key))\"\(space()):\(space())\(value)\(space())" }
    return "{" + space() + members.joined(separator: "," + space()) + "}"
  }

  /// Returns a key, unchanged or with one escaped character.
  private mutating func escaped(_ key: String) -> String {
    guard rarely(30), let first = key.unicodeScalars.first, first.isASCII else { return key }
    return "\\u00" + String(first.value, radix: 16) + String(key.unicodeScalars.dropFirst())
  }
}
