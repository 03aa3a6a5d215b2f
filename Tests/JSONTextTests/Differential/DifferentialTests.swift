import XCTest

@testable import JSONText

/// Compares the decoder with Foundation's on more than 100,000 generated texts: the same value, or an error of the same
/// case at the same path. `docs/decisions/0007-own-json-decoder.md` lists the intended differences.
final class DifferentialTests: XCTestCase {
  /// The outcome of a decode.
  private enum Outcome<Model: Equatable>: Equatable {
    case value(Model)
    case failure(Failure)
    /// The text is not valid JSON.
    case malformed(JSONError)
  }

  private struct Failure: Equatable {
    var name: String
    /// The coding path; `nil` for numbers that do not fit and invalid dates, because Foundation's errors have no path.
    var path: String?

    init(_ error: any Error) {
      let context: DecodingError.Context
      switch error as? DecodingError {
      case .typeMismatch(_, let found): (name, context) = ("mismatch", found)
      case .valueNotFound(_, let found): (name, context) = ("null", found)
      case .keyNotFound(let key, let found): (name, context) = ("no \(key.stringValue)", found)
      case .dataCorrupted(let found): (name, context) = ("corrupted", found)
      default:
        name = "\(error)"
        return
      }
      let keys = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      path = name == "corrupted" && keys.isEmpty ? nil : keys.joined(separator: ".")
    }

    static func == (a: Failure, b: Failure) -> Bool {
      a.name == b.name && (a.path == b.path || a.path == nil || b.path == nil)
    }
  }

  private func ours<Model: NonisolatedDecodable & Equatable>(
    _ type: Model.Type, _ data: Data, _ decoder: JSONModelDecoder
  ) -> Outcome<Model> {
    do {
      return .value(try JSON(parsing: data).decode(type, using: decoder))
    } catch let error as JSONError {
      return .malformed(error)
    } catch { return .failure(Failure(error)) }
  }

  private func foundations<Model: NonisolatedDecodable & Equatable>(
    _ type: Model.Type, _ data: Data, _ decoder: JSONDecoder
  ) -> Outcome<Model> {
    do { return .value(try decoder.decode(type, from: data)) } catch { return .failure(Failure(error)) }
  }

  private var differences = 0

  private func compare<Model: NonisolatedDecodable & Equatable>(
    _ type: Model.Type, _ text: some Collection<UInt8>, isValid: Bool = true,
    configure: (JSONDecoder) -> Void = { _ in }
  ) {
    let data = Data(text)
    let foundation = JSONDecoder()
    configure(foundation)
    let a = ours(type, data, JSONModelDecoder(configure))
    let b = foundations(type, data, foundation)
    if a == b { return }
    // Foundation reports malformed text when it reaches it, and accepts some kinds of it.
    if !isValid, case .malformed(let error) = a {
      if case .failure = b { return }
      if isOverlooked(error, in: data) { return }
    }
    // Foundation also rejects a string that is not Unicode if it is a key or is never read.
    if !isValid, case .failure = b, (try? JSON(parsing: data)).map(hasBadString) == true { return }
    differences += 1
    if differences < 5 {
      XCTFail("\(String(decoding: data, as: UTF8.self).prefix(2_000))\nours: \(a)\nFoundation: \(b)")
    }
  }

  private func hasBadString(_ json: JSON) -> Bool {
    json.kind == .string && json.string == nil || json.array?.contains(where: hasBadString) == true
      || json.members?.contains { $0.key.contains("\u{FFFD}") || hasBadString($0.value) } == true
  }

  /// Returns whether Foundation accepts the text that causes this error.
  private func isOverlooked(_ error: JSONError, in data: Data) -> Bool {
    switch error.kind {
    // Strings and numbers in members that are never read are not checked.
    case .controlCharacter, .invalidEscape, .invalidNumber: return true
    case .unexpectedCharacter:
      let before = data.prefix(error.offset)
      switch error.byte {
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        return before.last { !JSONReader.isSpace($0) } == UInt8(ascii: ",")
      case .some(let byte): return [byte, before.last ?? 0].allSatisfy { "-+.eE0123456789".utf8.contains($0) }
      case nil: return false
      }
    default: return false
    }
  }

  private func each(_ count: Int, seed: UInt64, _ body: (inout Generator) -> Void) {
    var generator = Generator(seed: seed)
    // A quarter in debug builds. `.ci/full` also runs the tests of the release build.
    #if DEBUG
      let count = count / 4
    #endif
    for _ in 0..<count { body(&generator) }
    XCTAssertEqual(differences, 0)
  }

  func test_modelsOfEveryTypeAreAlike() {
    each(12_000, seed: 1) { compare(Sample.self, $0.sample().utf8) }
  }

  func test_treesOfAnyShapeAreAlike() {
    each(16_000, seed: 2) { compare(Tree.self, $0.value(depth: 4).utf8) }
  }

  func test_80000DoublesAreAlikeToTheBit() {
    each(16_000, seed: 3) { generator in
      let texts = (0..<5).map { _ in generator.double().description }
      let doubles = try? JSON(parsing: "[\(texts.joined(separator: ","))]").decode([Double].self)
      for (text, double) in zip(texts, doubles ?? []) where double.bitPattern != Double(text)?.bitPattern {
        XCTFail("\(text) was read as \(double)")
      }
      if doubles?.count != 5 { XCTFail("\(texts)") }
    }
  }

  func test_numbersAreAlikeInEveryType() {
    each(4_000, seed: 4) { generator in
      let text = "[\(generator.number())]".utf8
      compare([Int].self, text)
      compare([UInt64].self, text)
      compare([Int8].self, text)
      compare([UInt32].self, text)
      compare([Double].self, text)
      compare([Float].self, text)
      compare([Decimal].self, text)
    }
  }

  func test_mutatedTextsAreRefusedOrAlike() {
    each(40_000, seed: 5) { generator in
      var bytes = Array(generator.rarely(2) ? generator.sample().utf8 : generator.value(depth: 3).utf8)
      for _ in 0...generator.below(2) where !bytes.isEmpty {
        let at = generator.below(bytes.count)
        switch generator.below(5) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes[at] = generator.one(Array("\"\\{}[],:0-.eE+ tfn\u{1}".utf8))
        case 2: bytes.remove(at: at)
        case 3: bytes.insert(generator.one(Array("\"\\{}[],:0-.e ".utf8)), at: at)
        default: bytes.removeSubrange(at...)
        }
      }
      compare(Tree.self, bytes, isValid: false)
    }
  }

  func test_keysInSnakeCaseAreAlike() {
    func configure(_ decoder: JSONDecoder) { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    each(8_000, seed: 6) { generator in
      let names = (0..<3).map { _ in
        (0..<generator.below(9)).map { _ in generator.one(["_", "a", "B", "c", "1", "é", "-", "url"]) }.joined()
      }
      compare(Names.self, generator.object(names.map { ($0, "1") }).utf8, configure: configure)
    }
    each(3_000, seed: 7) { compare(Sample.self, $0.sample().utf8, configure: configure) }
  }

  func test_strategiesAreAlike() {
    each(2_000, seed: 8) { generator in
      let date = generator.one(["0", "-1.5", "1577491200123", "null", "\"2023-04-05T06:07:08Z\"", "\"x\"", "[]"])
      for strategy: JSONDecoder.DateDecodingStrategy in [
        .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
        .custom { Date(timeIntervalSince1970: try Double(from: $0) + 1) }, .custom { _ in .distantPast },
      ] { compare([Date].self, "[\(date)]".utf8) { $0.dateDecodingStrategy = strategy } }
      let data = generator.one(["\"aGk=\"", "\"aGk\"", "[1,2,255]", "[256]", "null", "1"])
      for strategy: JSONDecoder.DataDecodingStrategy in [
        .base64, .deferredToData, .custom { Data(try String(from: $0).utf8) }, .custom { _ in Data() },
      ] { compare([String: Data].self, "{\"a\":\(data)}".utf8) { $0.dataDecodingStrategy = strategy } }
      let float = generator.one(["\"inf\"", "\"-inf\"", "1", "\"nan\"", "1e999", "\"x\"", "null"])
      compare([Float].self, "[\(float == "\"nan\"" ? "1" : float)]".utf8) {
        $0.nonConformingFloatDecodingStrategy = .convertFromString(
          positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      }
      compare(Sample.self, generator.sample().utf8) {
        $0.keyDecodingStrategy = .custom { path in path.last.map { AnyName($0.stringValue.lowercased()) } ?? AnyName("")
        }
      }
    }
  }

  func test_depthsAreAlike() {
    for depth in 510...514 {
      func nest(_ open: String, _ close: String, _ count: Int) -> String {
        String(repeating: open, count: count) + String(repeating: close, count: count)
      }
      compare(Lists.self, nest("[", "]", depth).utf8, isValid: depth <= 512)
      compare(Links.self, nest("{\"a\":[", "]}", depth / 2).utf8, isValid: depth <= 513)
      compare([Links].self, "[\(nest("{\"a\":[", "]}", depth / 2))]".utf8, isValid: depth < 512)
      compare(Lists.self, "[\(nest("[", "]", depth - 1).dropLast(3))".utf8, isValid: false)
    }
    XCTAssertEqual(differences, 0)
  }
}

private struct AnyName: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
