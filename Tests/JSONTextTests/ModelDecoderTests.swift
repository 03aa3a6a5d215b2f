import JSONText
import XCTest

final class ModelDecoderTests: XCTestCase {
  private struct User: Decodable, Equatable {
    var id: Int
    var firstName: String?
  }
  private struct Tree: Decodable {
    var children: [Tree]?
    var a: String?
    var b: Int?
  }

  func test_onlyTheSliceIsDecoded() throws {
    let json = try JSON(parsing: #"{"data": {"id": 1}, "rest": [1, 2, 3]}"#)
    XCTAssertEqual(try json["data"].decode(User.self), User(id: 1))
    XCTAssertEqual(try json["rest"].decode([Int].self), [1, 2, 3])
    XCTAssertEqual(try json["rest"][2].decode(Int.self), 3)
  }

  func test_scalarsAndNullDecodeToo() throws {
    XCTAssertEqual(try JSON(parsing: "\"a\\u00e9\"").decode(String.self), "aé")
    XCTAssertEqual(try JSON(parsing: "true").decode(Bool.self), true)
    XCTAssertNil(try JSON(parsing: "null").decode(User?.self))
    XCTAssertThrowsError(try JSON(parsing: "null").decode(User.self))
    XCTAssertThrowsError(try JSON(parsing: "{}")["x"].decode(User?.self))
  }

  func test_theDecoderCanBeConfigured() throws {
    let snake = JSONModelDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase }
    XCTAssertEqual(
      try JSON(parsing: #"{"id":1,"first_name":"A"}"#).decode(User.self, using: snake), User(id: 1, firstName: "A"))
  }

  func test_foundationsDecoderIsAModelDecoderToo() throws {
    let json = try JSON(parsing: #"{"data":{"id":1,"firstName":"A"}}"#)["data"]
    XCTAssertEqual(try json.decode(User.self, using: JSONDecoder()), User(id: 1, firstName: "A"))
    let deep = onSmallStack {
      Result { () throws -> [String: JSON] in
        let text = String(repeating: "{\"a\":", count: 500) + "1" + String(repeating: "}", count: 500)
        return try JSON(parsing: text).decode([String: JSON].self, using: JSONDecoder())
      }
    }
    XCTAssertEqual(try deep.get()["a"]?.kind, .object)
  }

  func test_aModelAsDeepAsTheScannerAllowsDecodesOnASmallStack() throws {
    let depth = onSmallStack {
      Result {
        var text = "{}"
        for _ in 0..<255 { text = "{\"children\":[\(text)]}" }
        var tree = try JSON(parsing: text).decode(Tree.self)
        var depth = 0
        while let child = tree.children?.first {
          tree = child
          depth += 1
        }
        return depth
      }
    }
    XCTAssertEqual(try depth.get(), 255)
  }
}
