import Foundation
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import JSONText
@testable import NetLayer

/// A key strategy renames what a type declares and the names of `Parameters`. The keys of a `Dictionary` and of a `JSON`
/// value are data.
final class DataKeyTests: XCTestCase {
  private struct Inner: Codable, Equatable, Sendable { var firstName = "a" }
  private struct Device: Encodable { var deviceInfo = ["osVersion": "1"] }
  private struct Nested: Encodable { var nestedMap = ["outerKey": ["innerKey": 1]] }
  private struct Models: Encodable { var m = ["keyOne": Inner()] }
  private struct Listed: Encodable { var list = [["aB": 1]] }
  private struct Maybe: Encodable { var maybe: [String: String?]? = ["aB": nil, "cD": "x"] }
  private struct Value: Encodable { var rawValue: JSON = ["aB": [["cD": 1]], "eF": nil] }
  private enum Kind: String, Codable, CodingKeyRepresentable { case plainText, richText }
  private struct Kinds: Encodable { var byKind: [Kind: Inner] = [.plainText: Inner()] }
  private struct Numbers: Encodable { var byNumber = [7: ["aB": true]] }
  private struct Pairs: Encodable { var byFlag = [true: ["aB": Inner()]] }
  private struct Super: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ParameterKey.self)
      try ["aB": 1].encode(to: container.superEncoder(forKey: ParameterKey("theParent")))
      var list = container.nestedUnkeyedContainer(forKey: ParameterKey("theList"))
      try list.encode(["cD": 2])
      var object = list.nestedContainer(keyedBy: ParameterKey.self)
      try object.encode(["eF": Inner()], forKey: ParameterKey("gH"))
    }
  }
  /// Wrappers of a dictionary, in the three ways in which a type can encode one.
  private struct InPlace: Encodable {
    func encode(to encoder: any Encoder) throws { try ["aB": Inner()].encode(to: encoder) }
  }
  private struct Single: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(["aB": Inner()])
    }
  }
  private struct StringKeys: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ParameterKey.self)
      try container.encode(1, forKey: ParameterKey("aB"))
    }
  }
  private struct Class: Encodable {
    var ownName = 1
    func encode(to encoder: any Encoder) throws {
      try ["aB": 1].encode(to: encoder)
      var container = encoder.container(keyedBy: ParameterKey.self)
      try container.encode(ownName, forKey: ParameterKey("ownName"))
    }
  }

  private func body(_ task: HTTPTask, _ keys: JSONParameterEncoder.KeyEncoding = .snakeCase) throws -> String {
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/a")))
    let conventions = EncodingConventions(json: JSONParameterEncoder(keys: keys))
    try TaskEncoder(task: task, common: [:], conventions: conventions).encode(into: &request)
    guard case .data(let data) = request.body else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  func test_keysThatAreData_areNotRenamed() throws {
    let cases: [(any Sendable & Encodable, String)] = [
      (Device(), #"{"device_info":{"osVersion":"1"}}"#),
      (Nested(), #"{"nested_map":{"outerKey":{"innerKey":1}}}"#),
      (Models(), #"{"m":{"keyOne":{"first_name":"a"}}}"#),
      (Listed(), #"{"list":[{"aB":1}]}"#),
      (["E621E1F8-C36C": 1], #"{"E621E1F8-C36C":1}"#),
      (["userId": 1, "user_id": 2], #"{"userId":1,"user_id":2}"#),
      (["zhHans": ["enUS": Inner()]], #"{"zhHans":{"enUS":{"first_name":"a"}}}"#),
      (Maybe(), #"{"maybe":{"aB":null,"cD":"x"}}"#),
      (Value(), #"{"raw_value":{"aB":[{"cD":1}],"eF":null}}"#),
      (["aB": ["cD": 1]] as JSON, #"{"aB":{"cD":1}}"#),
      ([["aB": 1] as JSON], #"[{"aB":1}]"#),
      (Kinds(), #"{"by_kind":{"plainText":{"first_name":"a"}}}"#),
      (Numbers(), #"{"by_number":{"7":{"aB":true}}}"#),
      (Pairs(), #"{"by_flag":[true,{"aB":{"first_name":"a"}}]}"#),
      (Super(), #"{"the_list":[{"cD":2},{"g_h":{"eF":{"first_name":"a"}}}],"the_parent":{"aB":1}}"#),
      (InPlace(), #"{"aB":{"first_name":"a"}}"#), (Single(), #"{"aB":{"first_name":"a"}}"#),
      (StringKeys(), #"{"a_b":1}"#), (Class(), #"{"aB":1,"own_name":1}"#),
      (["aB": ["cD": ["eF": 1] as [String: Int]] as Parameters] as Parameters, #"{"a_b":{"c_d":{"eF":1}}}"#),
      (["aB": ["cD": 1] as Parameters], #"{"aB":{"c_d":1}}"#),
      (["": 1, "_aB_": 2, "URL": 3, "é É": 4], #"{"":1,"URL":3,"_aB_":2,"é É":4}"#),
    ]
    for (value, expected) in cases { XCTAssertEqual(try body(.json(value)), expected) }
    XCTAssertEqual(try body(.json(["aB": Inner()]), .kebabCase), #"{"aB":{"first-name":"a"}}"#)
    XCTAssertEqual(try body(.json(["aB": Inner()]), .custom { $0.uppercased() }), #"{"aB":{"FIRSTNAME":"a"}}"#)
    XCTAssertEqual(try body(.parameters(["aB": ["cD": 1]])), #"{"a_b":{"cD":1}}"#)
    XCTAssertEqual(try body(.composite(query: [:], body: Parameters(["aB": 1] as [String: Int]))), #"{"aB":1}"#)
  }

  func test_dictionaryOverCommonParameters_keepsItsKeys() throws {
    func body(_ task: HTTPTask, common: Parameters) throws -> String {
      var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/a")))
      let conventions = EncodingConventions(json: JSONParameterEncoder(keys: .snakeCase))
      try TaskEncoder(task: task, common: common, conventions: conventions).encode(into: &request)
      guard case .data(let data) = request.body else { return "" }
      return String(decoding: data, as: UTF8.self)
    }
    XCTAssertEqual(try body(.json(["aB": 1]), common: ["cD": 2]), #"{"aB":1,"c_d":2}"#)
    XCTAssertEqual(try body(.json(["aB": 1]), common: ["aB": 2]), #"{"aB":1}"#, "compared before they are encoded")
    XCTAssertThrowsError(try body(.json(["a_b": 1]), common: ["aB": 2]))
  }

  func test_linesAndMessages_keepKeysThatAreData() throws {
    let encoder = JSONParameterEncoder(keys: .snakeCase)
    XCTAssertEqual(try encoder.line(of: Device()), #"{"device_info":{"osVersion":"1"}}"#)
    XCTAssertEqual(try encoder.line(of: ["aB": ["cD": 1] as JSON]), #"{"aB":{"cD":1}}"#)
  }

  func test_queriesAndForms_renameAllKeys() throws {
    let encoder = URLParameterEncoder(destination: .query, keys: .snakeCase)
    XCTAssertEqual(try encoder.text(of: Parameters(Device())), "device_info%5Bos_version%5D=1")
    XCTAssertEqual(try encoder.text(of: Parameters(["aB": ["cD": 1]] as JSON)), "a_b%5Bc_d%5D=1")
  }

  func test_signatureCoversTheKeysThatAreSent() throws {
    let content = try TaskEncoder(
      task: .json(Device()), common: ["cD": 2],
      conventions: EncodingConventions(json: .init(keys: .snakeCase), query: .init(keys: .snakeCase))
    ).pairs(for: .post)
    XCTAssertEqual(content.map { "\($0.name)=\($0.value)" }, ["c_d=2", "device_info[osVersion]=1"])
  }
}
