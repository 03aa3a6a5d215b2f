import Foundation
import LoopbackServer
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayer

/// Reports about what is sent: names of members, dates, numbers, forms.
final class ReportedEncodingTests: XCTestCase {
  private struct DeviceInfo: Encodable, Sendable { var deviceInfo = ["osVersion": "1"] }
  private struct Nested: Encodable, Sendable { var nestedMap = ["outerKey": ["innerKey": 1]] }
  private struct Inner: Encodable, Sendable { var firstName = "a" }
  private struct Models: Encodable, Sendable { var m = ["keyOne": Inner()] }
  private struct List: Encodable, Sendable { var list = [["aB": 1]] }
  private struct Identifiers: Encodable, Sendable { var ids = ["E621E1F8-C36C": 1] }
  private struct Optionals: Encodable, Sendable { var maybe: [String: String?]? = ["aB": nil, "cD": "x"] }
  private struct Counts: Encodable, Sendable { var m = ["aB": 1] }
  private struct At: Encodable, Sendable { var at: Date }

  /// The body that a call sends, of a multipart form the first part.
  private static func sent(
    _ coding: Backend.Coding, query: URLParameterEncoder = URLParameterEncoder(), _ call: Call<Response>
  ) async throws -> String {
    let transport = StubTransport { _ in .json("{}") }
    let backend = Backend(
      baseURL: URL(string: "http://h"), coding: coding, queryEncoding: query, transport: transport)
    _ = try await Network(backend).response(call)
    let request = try XCTUnwrap(transport.requests.first)
    switch request.body {
    case .data(let data): return String(decoding: data, as: UTF8.self)
    case .parts(let parts):
      return parts.map { if case .data(let data) = $0 { String(decoding: data, as: UTF8.self) } else { "" } }.joined()
    default: return request.url.query() ?? ""
    }
  }

  /// The encoded date at `seconds` since 1970.
  private static func date(_ coding: Backend.Coding, _ seconds: Double) async throws -> String {
    try await sent(coding, .post("/x", json: At(at: Date(timeIntervalSince1970: seconds))))
  }

  private static let seconds = Backend.Coding(
    decoder: JSONModelDecoder { $0.dateDecodingStrategy = .secondsSince1970 },
    encoder: JSONParameterEncoder(dates: .secondsSince1970))
  private static let milliseconds = Backend.Coding(
    decoder: JSONModelDecoder { $0.dateDecodingStrategy = .millisecondsSince1970 },
    encoder: JSONParameterEncoder(dates: .millisecondsSince1970))

  func test_keysOfDictionaries_areData() async {
    let report = "swift-foundation#1681, #1526, BetterCodable#51"
    let kebab = Backend.Coding(decoder: JSONModelDecoder(), encoder: JSONParameterEncoder(keys: .kebabCase))
    await [
      ReportedCase(report, "deviceInfo: [String: String]", #"{"device_info":{"osVersion":"1"}}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: DeviceInfo()))
      },
      ReportedCase(report, "[String: [String: Int]]", #"{"nested_map":{"outerKey":{"innerKey":1}}}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: Nested()))
      },
      ReportedCase(report, "[String: Inner]", #"{"m":{"keyOne":{"first_name":"a"}}}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: Models()))
      },
      ReportedCase(report, "[[String: Int]]", #"{"list":[{"aB":1}]}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: List()))
      },
      ReportedCase(report, "UUID keys", #"{"ids":{"E621E1F8-C36C":1}}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: Identifiers()))
      },
      ReportedCase(report, "[String: String?]?", #"{"maybe":{"aB":null,"cD":"x"}}"#) {
        try await Self.sent(.snakeCase, .post("/x", json: Optionals()))
      },
      ReportedCase(report, ".kebabCase", #"{"m":{"aB":1}}"#) {
        try await Self.sent(kebab, .post("/x", json: Counts()))
      },
    ].check()
  }

  func test_datesBefore1582_areGregorian() async {
    let report = "Go's zero time, .NET's DateTime.MinValue"
    let rows: [(Double, String)] = [
      (-62_135_596_800, "0001-01-01T00:00:00Z"), (-59_006_361_600, "0100-03-01T00:00:00Z"),
      (-30_610_224_000, "1000-01-01T00:00:00Z"), (-14_831_769_600, "1500-01-01T00:00:00Z"),
      (-12_219_379_200, "1582-10-14T00:00:00Z"),
    ]
    await rows.map { seconds, text in
      ReportedCase(report, text, #"{"at":"\#(text)"}"#) { try await Self.date(.iso8601, seconds) }
    }.check()
  }

  func test_wholeDates_areIntegers() async {
    let report = "sendgrid#28"
    let at = Date(timeIntervalSince1970: 1_700_000_000)
    var encoder = URLParameterEncoder()
    encoder.dates = .secondsSince1970
    let secondsInForms = encoder
    await [
      ReportedCase(report, "seconds in JSON", #"{"at":1700000000}"#) {
        try await Self.date(Self.seconds, 1_700_000_000)
      },
      ReportedCase(report, "seconds in a form", "at=1700000000") {
        try await Self.sent(.default, query: secondsInForms, .post("/x", form: Parameters(At(at: at))))
      },
      ReportedCase(report, "seconds in a part", "1700000000") {
        let form = MultipartForm(Parameters(At(at: at)), boundary: "b")
        let body = try await Self.sent(.default, query: secondsInForms, .post("/x", .multipart(form)))
        return String(body.split(separator: "\r\n")[2])
      },
      ReportedCase(report, "seconds in an array", "[1700000000]") {
        try await Self.sent(Self.seconds, .post("/x", json: [at]))
      },
      ReportedCase(report, "milliseconds", #"{"at":1700000000123}"#) {
        try await Self.date(Self.milliseconds, 1_700_000_000.123)
      },
    ].check()
  }

  func test_numbersAndNames_areSentAsTheyAre() async {
    struct Big: Encodable, Sendable { var n = Int128.max }
    await [
      ReportedCase("128-bit integers", "Int128.max", #"{"n":170141183460469231731687303715884105727}"#) {
        try await Self.sent(.default, .post("/x", json: Big()))
      },
      ReportedCase("Alamofire#3184", "Decimal in a query", "price=12.34") {
        let price = try XCTUnwrap(Decimal(string: "12.34"))
        return try await Self.sent(.default, .get("/x", query: Parameters(["price": price])))
      },
      ReportedCase("httpx#164, requests#4652", "names of files", "файл.txt 文件.txt") {
        var form = MultipartForm()
        for name in ["файл.txt", "文件.txt"] { form.append(.data(Data("x".utf8), name: "f", filename: name)) }
        let body = try await Self.sent(.default, .post("/x", .multipart(form)))
        return body.matches(of: /filename="([^"]*)"/).map { String($0.output.1) }.joined(separator: " ")
      },
    ].check()
  }
}
