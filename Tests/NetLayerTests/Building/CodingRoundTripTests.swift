import Foundation
import XCTest

@testable import HTTPTransport
@testable import JSONText
@testable import NetLayer

/// The encoder of a `Backend.Coding` mirrors its decoder: what was sent is what is read back.
final class CodingRoundTripTests: XCTestCase {
  private static let codings: [(String, Backend.Coding)] = [
    ("default", .default), ("snakeCase", .snakeCase), ("iso8601", .iso8601), ("snakeCaseISO8601", .snakeCaseISO8601),
  ]

  private enum Kind: String, Codable, CodingKeyRepresentable, CaseIterable { case plainText, rich_text }

  /// A dictionary that encodes and decodes itself in place.
  private struct Labels: Codable, Equatable {
    var labels: [String: Int]
    init(_ labels: [String: Int]) { self.labels = labels }
    init(from decoder: any Decoder) throws { labels = try [String: Int](from: decoder) }
    func encode(to encoder: any Encoder) throws { try labels.encode(to: encoder) }
  }

  private struct Inner: Codable, Equatable {
    var firstName: String
    var byName: [String: [String]]
  }

  private struct Everything: Codable, Equatable {
    var isTrue: Bool
    var smallNumber: Int8
    var bigNumber: UInt64
    var hugeNumber: Int128
    var hugePositive: UInt128
    var maybeHuge: Int128?
    var hugeNumbers: [String: UInt128]
    var realNumber: Double
    var singleNumber: Float
    var exactNumber: Decimal
    var someText: String
    var maybeText: String?
    var someBytes: Data
    var aLink: URL
    var theUuid: UUID
    var createdAt: Date
    var deletedAt: Date?
    var byKey: [String: Inner]
    var byKind: [Kind: Int]
    var byNumber: [Int: Inner]
    var byFlag: [Bool: [String: Int]]
    var sharedLabels: Labels
    var listOfMaps: [[String: Date]]
    var rawValue: JSON
    var someSet: Set<Int>
  }

  private static let keys = [
    "osVersion", "os_version", "OSVersion", "E621E1F8-C36C", "zhHans", "", "_", "a__b", "_aB_", "7", "é É", "super",
    "\"",
  ]

  private func random(_ random: inout SplitMix) -> Everything {
    func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
      [.min, .max, 0, 1, .random(in: .min ... .max, using: &random)].randomElement(using: &random) ?? 0
    }
    func key() -> String { Self.keys.randomElement(using: &random) ?? "" }
    func map<Value>(_ value: () -> Value) -> [String: Value] {
      Dictionary((0..<Int.random(in: 0...3, using: &random)).map { _ in (key(), value()) }) { $1 }
    }
    func date() -> Date {
      let seconds = Double(Int.random(in: -62_135_596_800...253_402_300_798, using: &random))
      let fraction = Double(Int.random(in: 0..<1000, using: &random)) / 1000
      let part =
        [0, fraction, fraction / 1000, Double.random(in: 0..<1, using: &random)].randomElement(using: &random) ?? 0
      // A date of a server, and one of a clock, whose fractions have at most 9 digits.
      let recent = Double(Int.random(in: 600_000_000...1_000_000_000, using: &random))
      return Bool.random(using: &random)
        ? Date(timeIntervalSince1970: seconds + part) : Date(timeIntervalSinceReferenceDate: recent + part)
    }
    func inner() -> Inner { Inner(firstName: key(), byName: map { [key()] }) }
    return Everything(
      isTrue: Bool.random(using: &random), smallNumber: number(Int8.self), bigNumber: number(UInt64.self),
      hugeNumber: number(Int128.self), hugePositive: number(UInt128.self),
      maybeHuge: Bool.random(using: &random) ? number(Int128.self) : nil, hugeNumbers: map { number(UInt128.self) },
      realNumber: Double.random(in: -1e9...1e9, using: &random), singleNumber: Float.random(in: -1...1, using: &random),
      exactNumber: Decimal(number(Int32.self)) / 1000, someText: key(),
      maybeText: Bool.random(using: &random) ? key() : nil, someBytes: Data((0..<5).map { _ in number(UInt8.self) }),
      aLink: URL(string: "https://h/\(number(UInt8.self))?a=b")!, theUuid: UUID(), createdAt: date(),
      deletedAt: Bool.random(using: &random) ? date() : nil, byKey: map(inner),
      byKind: [Kind.allCases.randomElement(using: &random) ?? .plainText: 1], byNumber: [number(Int.self): inner()],
      byFlag: [true: map { 1 }], sharedLabels: Labels(map { 2 }), listOfMaps: [map(date), map(date)],
      rawValue: ["aB": ["c_d": [1, nil]], "URL": "x"], someSet: [1, number(Int.self)])
  }

  func test_whatWasSent_isReadBack() throws {
    var generator = SplitMix(state: 65)
    for round in 0..<200 {
      let value = random(&generator)
      for (name, coding) in Self.codings {
        let text = try coding.encoder.line(of: value)
        let read = try JSON(parsing: text).decode(Everything.self, using: coding.decoder)
        XCTAssertEqual(read, value, "\(name), round \(round)")
        if read != value { return }
      }
    }
  }

  func test_128BitIntegers_areWritten() throws {
    struct Members: Encodable {
      var a: Int128 = .max
      var b: Int128? = .min
      var c: UInt128 = .max
      var d: UInt128?
    }
    struct Containers: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(Int128.max)
        try list.encode(UInt128.max)
        var object = list.nestedContainer(keyedBy: ParameterKey.self)
        try object.encode(Int128(1), forKey: ParameterKey("a"))
        try object.encodeIfPresent(UInt128(2), forKey: ParameterKey("b"))
        try object.encodeIfPresent(Int128?.none, forKey: ParameterKey("c"))
      }
    }
    let (low, high) = ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727")
    let top = "340282366920938463463374607431768211455"
    let cases: [(any Sendable & Encodable, String)] = [
      (Int128.max, high), (Int128.min, low), (UInt128.max, top), ([Int128(0)], "[0]"),
      (["a": UInt128.max], "{\"a\":\(top)}"),
      (Int128?.some(5), "5"), (Members(), "{\"a\":\(high),\"b\":\(low),\"c\":\(top)}"),
      (Containers(), "[\(high),\(top),{\"a\":1,\"b\":2}]"),
    ]
    for (value, text) in cases { XCTAssertEqual(try JSONParameterEncoder().line(of: value), text) }
    XCTAssertEqual(
      try URLParameterEncoder(nils: .null).pairs(of: Parameters(Members())).map { "\($0.name)=\($0.value)" },
      ["a=\(high)", "b=\(low)", "c=\(top)", "d=null"])
  }

  /// A name of capitals is not read back (decided, as in Foundation): `myURL` is sent as `my_url`, which reads as `myUrl`.
  func test_acronyms_areSentAsFoundationSendsThem() throws {
    struct Model: Codable { var myURLProperty = 1 }
    XCTAssertEqual(try Backend.Coding.snakeCase.encoder.line(of: Model()), #"{"my_url_property":1}"#)
    XCTAssertThrowsError(
      try JSON(parsing: #"{"my_url_property":1}"#).decode(Model.self, using: Backend.Coding.snakeCase.decoder))
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
