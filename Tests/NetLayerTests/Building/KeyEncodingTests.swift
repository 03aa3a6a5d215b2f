import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class KeyEncodingTests: XCTestCase {
  private struct Named: Encodable {
    let name: String
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: ParameterKey.self)
      try container.encode(1, forKey: ParameterKey(name))
    }
  }

  func test_snakeCase_matchesFoundation() throws {
    for (name, expected) in [
      ("myURLPath", "my_url_path"), ("URL", "u_rl"), ("ID", "i_d"), ("URLPath", "u_rl_path"), ("ABC", "a_bc"),
      ("a_B", "a__b"), ("a1B2C3", "a1_b2c3"), ("one-Two", "one-_two"), ("_fooBar_", "_foo_bar_"), ("", ""), ("A", "a"),
    ] { XCTAssertEqual(JSONParameterEncoder.KeyEncoding.snakeCase.name(name), expected, name) }
    XCTAssertEqual(JSONParameterEncoder.KeyEncoding.kebabCase.name("firstNameURL"), "first-name-url")
  }

  func test_snakeCase_matchesFoundation_forAllShortNames() throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // All names of up to five of these characters.
    let alphabet = Array("aZB1_é-")
    var names = [""]
    for _ in 0..<5 { names = [""] + names.flatMap { name in alphabet.map { name + String($0) } } }
    for name in names {
      let theirs = try encoder.encode(Named(name: name))
      let ours = #"{"\#(JSONParameterEncoder.KeyEncoding.snakeCase.name(name))":1}"#
      XCTAssertEqual(ours, String(decoding: theirs, as: UTF8.self), name)
    }
  }
}
