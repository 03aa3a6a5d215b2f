import XCTest

@testable import JSONText

/// The guarantees of the decoder beyond compatibility with Foundation, which `DifferentialTests` covers.
final class JSONDecodingTests: XCTestCase {
  private func decode<Model: NonisolatedDecodable>(
    _ type: Model.Type = Model.self, _ text: String, _ configure: (JSONDecoder) -> Void = { _ in }
  ) throws -> Model {
    try JSON(parsing: text).decode(type, using: JSONModelDecoder(configure))
  }

  private struct Pair: Decodable, Equatable {
    var a: Int
    var b: Int
    init(_ a: Int, _ b: Int) { (self.a, self.b) = (a, b) }
  }
  private struct Reversed: Decodable, Equatable {
    var b: Int
    var a: Int
  }

  func test_ofADuplicateKeyTheFirstCountsInWhateverOrderTheModelAsks() throws {
    for text in [
      #"{"a":1,"b":2,"a":3,"b":4}"#, #"{"a":1,"a":3,"b":2}"#, #"{"\u0061":1,"b":2,"a":3}"#,
      #"{"b":2,"a":1,"\u0061":3}"#,
      #"{"x":{"a":9},"a":1,"b":2,"a":3}"#,
    ] {
      XCTAssertEqual(try decode(Pair.self, text), Pair(1, 2), text)
      let reversed = try decode(Reversed.self, text)
      XCTAssertEqual([reversed.a, reversed.b], [1, 2], text)
      XCTAssertEqual(try decode([String: JSON].self, text)["a"]?.int, 1, text)
      let snake = try decode(Reversed.self, text) { $0.keyDecodingStrategy = .convertFromSnakeCase }
      XCTAssertEqual([snake.a, snake.b], [1, 2], text)
    }
  }

  /// A model of 300 KB for each byte of its text.
  private struct Large: Decodable {
    struct Eight<Part: Decodable>: Decodable {
      var a, b, c, d, e, f, g, h: Part?
    }
    var parts: Eight<Eight<Eight<Eight<Eight<Int>>>>>
  }

  func test_memoryIsNotReservedForElementsThatAreNotDecodedYet() throws {
    XCTAssertGreaterThan(MemoryLayout<Large>.size, 256 << 10)
    // All elements together would take 64 GB.
    let elements = String(repeating: "1,", count: 250_000) + "1"
    XCTAssertThrowsError(try decode([Large].self, "[\(elements)]"))
    let members = String(repeating: #""":1,"#, count: 250_000) + #""":1"#
    XCTAssertThrowsError(try decode([String: Large].self, "{\(members)}"))
    XCTAssertEqual(try JSON(parsing: "{\(members)}").members?.count, 1)
    XCTAssertEqual(try decode([Int].self, "[\(elements)]").count, 250_001)
  }

  func test_membersAreFoundInObjectsOfEverySize() throws {
    struct Probe: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        let keys = container.allKeys
        for key in keys.reversed() + keys {
          XCTAssertEqual(try container.decode(Int.self, forKey: key), Int(key.stringValue.dropFirst()))
          XCTAssertNil(try container.decodeIfPresent(Int.self, forKey: JSONKey(key.stringValue + "x")))
        }
        XCTAssertFalse(container.contains(JSONKey("k")))
      }
    }
    for count in [0, 1, 2, 31, 32, 33, 41, 100, 128, 129, 300] {
      var members = (0..<count).map { "\"k\($0)\":\($0)" }
      _ = try decode(Probe.self, "{\(members.joined(separator: ","))}")
      members += (0..<count).map { "\"k\($0)\":-1" }
      _ = try decode(Probe.self, "{\(members.joined(separator: ","))}")
    }
  }

  func test_anErrorHasItsPathAndTheByte() throws {
    struct Model: Decodable {
      struct Item: Decodable { var id: Int8 }
      var list: [[String: Item]]
    }
    let text = #"{"list":[{},{"x":{"id":300}}]}"#
    XCTAssertThrowsError(try decode(Model.self, text)) { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return XCTFail("\(error)") }
      XCTAssertEqual(context.codingPath.map(\.stringValue), ["list", "Index 1", "x", "id"])
      XCTAssertEqual(context.codingPath[1].intValue, 1)
      XCTAssertTrue(context.debugDescription.contains("Number 300"), context.debugDescription)
      XCTAssertTrue(context.debugDescription.contains("at byte 23"), context.debugDescription)
    }
    // In a part of a text, paths begin at that part, and offsets at the start of the text.
    XCTAssertThrowsError(try JSON(parsing: text)["list"][1].decode([String: Pair].self)) { error in
      guard case DecodingError.keyNotFound(let key, let context) = error else { return XCTFail("\(error)") }
      XCTAssertEqual(key.stringValue, "a")
      XCTAssertEqual(context.codingPath.map(\.stringValue), ["x"])
      XCTAssertTrue(context.debugDescription.contains("at byte 17"), context.debugDescription)
    }
  }

  func test_snakeCaseInOtherAlphabetsIsConverted() throws {
    struct Model: Decodable {
      var имяЖёПользователя: Int
      var naïveÉtat2A: Int
      var a1B: Int
    }
    let text = #"{"имя_жё_пользователя":1,"naïve_état2_a":2,"a1_b":3}"#
    let foundation = JSONDecoder()
    foundation.keyDecodingStrategy = .convertFromSnakeCase
    let expected = try foundation.decode(Model.self, from: Data(text.utf8))
    let model = try decode(Model.self, text) { $0.keyDecodingStrategy = .convertFromSnakeCase }
    XCTAssertEqual(
      [model.имяЖёПользователя, model.naïveÉtat2A, model.a1B],
      [expected.имяЖёПользователя, expected.naïveÉtat2A, expected.a1B])
  }

  func test_numbersOfMoreThan53BitsAreRoundedOnce() throws {
    for text in [
      "1014403313373894.9", "900719925474099.3", "18014398509481983.9", "9007199254740993", "0.10144033133738949",
    ] {
      XCTAssertEqual(try decode([Double].self, "[\(text)]"), [try XCTUnwrap(Double(text))], text)
    }
  }

  func test_aDictionarysKeysAreNotConvertedAndItsModelsAre() throws {
    struct Model: Decodable {
      struct Item: Decodable { var someID: Int? }
      var byName: [String: Item]
    }
    func snake(_ decoder: JSONDecoder) { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    let model = try decode(Model.self, #"{"by_name":{"a_b":{"some_ID":1}}}"#, snake)
    XCTAssertEqual(Array(model.byName.keys), ["a_b"])
    XCTAssertThrowsError(try decode(Model.self, #"{"by_name":{"a_b":{"some_ID":1}, "c_d":[]}}"#, snake)) { error in
      guard case DecodingError.typeMismatch(_, let context) = error else { return XCTFail("\(error)") }
      XCTAssertEqual(context.codingPath.map(\.stringValue), ["byName", "c_d"])
    }
  }

  func test_aMemberThatIsJSONKeepsItsText() throws {
    struct Model: Decodable {
      var extra: JSON
      var list: [JSON]
      var map: [String: JSON?]
      var none: JSON?
    }
    let text =
      #"{"extra":{ "n": [18446744073709551615, 0.10, 1e400, "\u00e9"] },"list":[1.0, {"a":1 }],"map":{"x":2e0,"y":null}}"#
    let model = try decode(Model.self, text)
    XCTAssertEqual(model.extra.description, #"{ "n": [18446744073709551615, 0.10, 1e400, "\u00e9"] }"#)
    XCTAssertEqual(model.extra["n"][0].integer(UInt64.self), .max)
    XCTAssertEqual(model.extra["n"][1].decimal?.description, "0.1")
    XCTAssertEqual(model.list.map(\.description), ["1.0", #"{"a":1 }"#])
    XCTAssertEqual(model.map["x"]??.description, "2e0")
    XCTAssertNil(model.none)
  }

  func test_whatIsKeptBeyondTheDecodeStaysValid() throws {
    struct Keeper: Decodable {
      let decoder: any Decoder
      let keyed: KeyedDecodingContainer<JSONKey>
      let unkeyed: any UnkeyedDecodingContainer
      init(from decoder: any Decoder) throws {
        self.decoder = decoder
        keyed = try decoder.container(keyedBy: JSONKey.self)
        unkeyed = try keyed.nestedUnkeyedContainer(forKey: JSONKey("list"))
      }
    }
    func make() throws -> Keeper {
      try decode(Keeper.self, #"{"text":"\#(String(repeating: "long ", count: 100))","list":["a","b"]}"#)
    }
    let keepers = try (0..<100).map { _ in try make() }
    for keeper in keepers {
      XCTAssertEqual(try keeper.keyed.decode(String.self, forKey: JSONKey("text")).count, 500)
      var unkeyed = keeper.unkeyed
      XCTAssertEqual(try unkeyed.decode(String.self) + unkeyed.decode(String.self), "ab")
      XCTAssertThrowsError(try keeper.decoder.unkeyedContainer())
    }
  }

  func test_userInfoReachesTheModels() throws {
    struct Model: Decodable {
      let info: String?
      init(from decoder: any Decoder) throws {
        info = CodingUserInfoKey(rawValue: "k").flatMap { decoder.userInfo[$0] as? String }
      }
    }
    let key = try XCTUnwrap(CodingUserInfoKey(rawValue: "k"))
    XCTAssertEqual(try decode([Model].self, "[1]") { $0.userInfo[key] = "v" }.first?.info, "v")
  }

  func test_integersAreExactToTheLastBit() throws {
    XCTAssertEqual(try decode([Int128].self, "[170141183460469231731687303715884105727]"), [.max])
    XCTAssertEqual(try decode([UInt128].self, "[340282366920938463463374607431768211455]"), [.max])
    XCTAssertThrowsError(try decode([UInt128].self, "[340282366920938463463374607431768211456]"))
    XCTAssertEqual(try decode([Int].self, "[92233720368547758070e-1]"), [.max])
    XCTAssertThrowsError(try decode([Int].self, "[1.00000000000000000001]"), "no integer, however near")
    XCTAssertThrowsError(try decode([Int].self, "[131165135024763747.2]"))
    XCTAssertThrowsError(try decode([Int].self, "[1e1000000000]"))
    XCTAssertEqual(try decode([Int].self, "[0e1000000000,-0.000]"), [0, 0])
  }

  func test_equalityAndPrettyPrintingOfDeepValuesFitOnASmallStack() throws {
    let texts = [("[", "]"), ("{\"a\":", "}")].map { open, close in
      String(repeating: open, count: 511) + "[1]" + String(repeating: close, count: 511)
    }
    for text in texts {
      let outcome = onSmallStack {
        Result {
          let json = try JSON(parsing: text)
          let other = try JSON(parsing: text)
          return (json == other, try JSON(parsing: json.pretty()) == json, json.description.count)
        }
      }
      let (isEqual, isPretty, count) = try outcome.get()
      XCTAssertTrue(isEqual)
      XCTAssertTrue(isPretty)
      XCTAssertEqual(count, text.count)
    }
  }

  func test_keysThatUnicodeTakesAsEqualAreDifferentInObjectsOfEverySize() throws {
    struct Probe: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        XCTAssertEqual(try container.decode(Int.self, forKey: JSONKey("caf\u{E9}")), 1)
        XCTAssertEqual(try container.decode(Int.self, forKey: JSONKey("cafe\u{301}")), 2)
        XCTAssertEqual(container.allKeys.filter { $0.stringValue == "caf\u{E9}" }.count, 2)
      }
    }
    for count in [0, 10, 200] {
      let others = (0..<count).map { ",\"k\($0)\":0,\"k\($0)\":0" }.joined()
      for first in ["caf\u{E9}", "caf\\u00e9"] {
        let text = "{\"\(first)\":1,\"cafe\u{301}\":2\(others)}"
        _ = try decode(Probe.self, text)
        _ = try decode(Probe.self, text) { $0.keyDecodingStrategy = .convertFromSnakeCase }
      }
    }
  }

  func test_aPathThroughManyDictionariesHasTheKeysOfTheText() throws {
    struct Model: Decodable { var theTop: [String: [String: [String: Model]]] }
    let text = #"{"the_top":{"a_b":{"c_d":{"e_f":{"the_top":{"g_h":1}}}}}}"#
    XCTAssertThrowsError(try decode(Model.self, text) { $0.keyDecodingStrategy = .convertFromSnakeCase }) { error in
      guard case DecodingError.typeMismatch(_, let context) = error else { return XCTFail("\(error)") }
      XCTAssertEqual(
        context.codingPath.map(\.stringValue), ["theTop", "a_b", "c_d", "e_f", "theTop", "g_h"])
    }
  }

  func test_nullWhereADateOrDataOrURLIsWantedNamesThatType() {
    func type(_ body: () throws -> Void) -> String {
      do { try body() } catch DecodingError.valueNotFound(let type, _) { return "\(type)" } catch { return "\(error)" }
      return "no error"
    }
    for strategy: JSONDecoder.DateDecodingStrategy in [
      .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601, .custom { _ in .distantPast },
    ] {
      XCTAssertEqual(type { _ = try decode([Date].self, "[null]") { $0.dateDecodingStrategy = strategy } }, "Date")
    }
    for strategy: JSONDecoder.DataDecodingStrategy in [.base64, .deferredToData, .custom { _ in Data() }] {
      XCTAssertEqual(type { _ = try decode([Data].self, "[null]") { $0.dataDecodingStrategy = strategy } }, "Data")
    }
    XCTAssertEqual(type { _ = try decode([URL].self, "[null]") }, "URL")
  }

  func test_escapedKeysAreFoundInObjectsOfEverySize() throws {
    struct Probe: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        let count = try XCTUnwrap(container.decode(Int.self, forKey: JSONKey("count")))
        for index in 0..<count {
          XCTAssertEqual(try container.decode(Int.self, forKey: JSONKey("ké\(index)\"")), index)
          XCTAssertFalse(container.contains(JSONKey("ké\(index)'")))
        }
      }
    }
    for count in [1, 7, 8, 9, 40, 200] {
      let members = (0..<count).map { ",\"k\\u00e9\($0)\\\"\":\($0)" }.joined()
      _ = try decode(Probe.self, "{\"count\":\(count)\(members)}")
      _ = try decode(Probe.self, "{\"count\":\(count)\(members)}") { $0.keyDecodingStrategy = .convertFromSnakeCase }
    }
  }

  func test_namesInSnakeCaseAreFoundInTablesAsByComparison() throws {
    struct Probe: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        for (index, name) in ["someKey1B", "_aB__", "ABC", "größeZwei", "a1B2"].enumerated() {
          XCTAssertEqual(try container.decode(Int.self, forKey: JSONKey(name)), index, name)
        }
      }
    }
    let members = ["SOME_key_1b", "_a_b__", "ABC", "größe_zwei", "a1_b2"].enumerated().map { "\"\($1)\":\($0)" }
    for count in [0, 10, 200] {
      let others = (0..<count).map { "\"k\\u0031_\($0)\":0" }
      let text = "{\((members + others).joined(separator: ","))}"
      _ = try decode(Probe.self, text) { $0.keyDecodingStrategy = .convertFromSnakeCase }
    }
  }
}
