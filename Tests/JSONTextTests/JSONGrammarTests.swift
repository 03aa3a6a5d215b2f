import JSONText
import XCTest

/// Compares the parser with a recognizer written from the grammar of RFC 8259: on all short texts of its alphabet, and on
/// larger ones with a fault. The last test has the cases that the RFC leaves to the parser. All run on 512 KB of stack.
final class JSONGrammarTests: XCTestCase {
  /// Returns the texts for which parser and grammar differ.
  private func differences(in texts: @escaping @Sendable () -> [[UInt8]]) -> [String] {
    onSmallStack {
      texts().filter { bytes in
        var grammar = Grammar(bytes)
        return grammar.isText() != ((try? JSON(parsing: Data(bytes))) != nil)
      }
      .map { String(decoding: $0, as: UTF8.self).debugDescription }
    }
  }

  /// Returns all sequences of at most `length` elements of `alphabet`, between `start` and `end`.
  private static func texts(_ alphabet: [String], _ length: Int, in frame: (String, String) = ("", "")) -> [[UInt8]] {
    var all = [""]
    var longest = [""]
    for _ in 0..<length {
      longest = longest.flatMap { text in alphabet.map { text + $0 } }
      all += longest
    }
    return all.map { Array((frame.0 + $0 + frame.1).utf8) }
  }

  func test_everySequenceOfFiveTokens() {
    XCTAssertEqual(
      differences { Self.texts(["{", "}", "[", "]", ",", ":", #""a""#, "0", "null", " "], 5) }, [])
    XCTAssertEqual(differences { Self.texts(["[", "]", ",", "true", "tru", "\n", "\u{C}", "1e5"], 4) }, [])
  }

  func test_everyNumberOfSixCharacters() {
    XCTAssertEqual(differences { Self.texts(["-", "+", "0", "7", ".", "e"], 6) }, [])
    XCTAssertEqual(differences { Self.texts(["-", "0", "1", ".", "E", "x"], 5, in: ("[0,", "]")) }, [])
  }

  func test_everyStringOfEscapes() {
    let alphabet = ["\\", "\"", "/", "u", "0", "D8", "n", "x", "\u{1F}", "é"]
    XCTAssertEqual(differences { Self.texts(alphabet, 4, in: ("\"", "\"")) }, [])
    XCTAssertEqual(differences { Self.texts(["\\u", "0", "F", "d", "g", "\\"], 6, in: ("[\"", "\"]")) }, [])
  }

  func test_everyByteAtEveryPlace() {
    let texts = [#"{"a":[1,-2.5e+3,"b\u00e9",true,null],"c":{}}"#, " [ false , \"\" ] "]
    let found = differences {
      texts.flatMap { text -> [[UInt8]] in
        let bytes = Array(text.utf8)
        return bytes.indices.flatMap { place in
          (UInt8.min...UInt8.max).map { byte -> [UInt8] in
            var changed = bytes
            changed[place] = byte
            return changed
          }
        }
      }
    }
    XCTAssertEqual(found, [])
  }

  func test_textsWithAFault() {
    let found = differences {
      var random = Generator(seed: 8259)
      return (0..<20_000).map { _ in
        var bytes = Array(random.value(depth: 5).utf8)
        for _ in 0...random.below(2) where !bytes.isEmpty {
          let place = random.below(bytes.count)
          switch random.below(4) {
          case 0: bytes[place] = random.one(Array("\"\\{}[],:0-.eE+ tfn\u{1}/u".utf8))
          case 1: bytes.remove(at: place)
          case 2: bytes.insert(random.one(Array("\"\\{}[],:0-.e ".utf8)), at: place)
          default: bytes.swapAt(place, random.below(bytes.count))
          }
        }
        return bytes
      }
    }
    XCTAssertEqual(found, [])
  }

  func test_whatTheRFCLeavesOpen() {
    let failure = onSmallStack { () -> String? in
      do {
        // §4: names should be unique. The first counts; all remain in the text.
        let twice = try JSON(parsing: #"{"a":1,"\u0061":2}"#)
        guard twice["a"].int == 1, twice.count == 2 else { return "duplicates" }
        // §6: a number outside of a type's range is a number that this type can't read.
        let large = try JSON(parsing: "[1e400,-1e400,123456789012345678901234567890,1e-400]")
        guard large[0].double == nil, large[1].double == nil, large[2].int == nil else { return "range" }
        guard large[2].decimal?.description == "123456789012345678901234567890", large[3].double != .nan else {
          return "precision"
        }
        // §8.1: a byte order mark may be ignored.
        guard try JSON(parsing: "\u{FEFF}[1]")[0].int == 1 else { return "mark" }
        // §8.2: half of a surrogate pair is not Unicode text, and does not affect its neighbors.
        let half = try JSON(parsing: #"["\ud83d","\ud83d\ude00"]"#)
        guard half[0].string == nil, half[1].string == "😀" else { return "surrogates" }
        // §9: limits of depth and length.
        for depth in [JSON.maxDepth, JSON.maxDepth + 1, 1_000_000] {
          for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            guard ((try? JSON(parsing: text)) != nil) == (depth <= JSON.maxDepth) else { return "depth \(depth)" }
          }
        }
        return nil
      } catch { return "\(error)" }
    }
    XCTAssertNil(failure)
  }
}

/// The grammar of RFC 8259, rule by rule. It knows no limits.
private struct Grammar {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func take(_ set: String) -> Bool {
    guard let next, set.utf8.contains(next) else { return false }
    place += 1
    return true
  }

  private mutating func takeAll(_ set: String) -> Int {
    let start = place
    while take(set) {}
    return place - start
  }

  /// JSON-text = ws value ws
  mutating func isText() -> Bool { value() && place == bytes.count }

  private mutating func value() -> Bool {
    _ = takeAll(" \t\n\r")
    defer { _ = takeAll(" \t\n\r") }
    if take("[") { return list("]") { $0.value() } }
    if take("{") { return list("}") { $0.member() } }
    if take("\"") { return string() }
    for word in ["false", "null", "true"] where bytes[place...].starts(with: word.utf8) {
      place += word.utf8.count
      return true
    }
    return number()
  }

  private mutating func list(_ end: String, _ element: (inout Grammar) -> Bool) -> Bool {
    _ = takeAll(" \t\n\r")
    if take(end) { return true }
    repeat { guard element(&self) else { return false } } while take(",")
    return take(end)
  }

  private mutating func member() -> Bool {
    _ = takeAll(" \t\n\r")
    guard take("\""), string() else { return false }
    _ = takeAll(" \t\n\r")
    return take(":") && value()
  }

  /// number = [ minus ] int [ frac ] [ exp ]
  private mutating func number() -> Bool {
    _ = take("-")
    guard take("0") || takeAll("123456789") > 0 && takeAll("0123456789") >= 0 else { return false }
    if take("."), takeAll("0123456789") == 0 { return false }
    if take("eE") {
      _ = take("+-")
      return takeAll("0123456789") > 0
    }
    return true
  }

  /// string = quotation-mark *char quotation-mark; bytes above 0x7F are checked when the string is read.
  private mutating func string() -> Bool {
    while let byte = next {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case ..<0x20: return false
      case UInt8(ascii: "\\"):
        if take("u") {
          for _ in 0..<4 where !take("0123456789abcdefABCDEF") { return false }
        } else if !take("\"\\/bfnrt") {
          return false
        }
      default: continue
      }
    }
    return false
  }
}
