import HTTPTransport
import NetLayer
import Streams
import TestSupport
import XCTest

/// The requests that httpbin receives. `Tests/Interop/run` sets its URL in `HTTPBIN`; without it, the tests are skipped.
final class HTTPBinTests: XCTestCase {
  private struct Call: Endpoint {
    var path: String
    var method: HTTPMethod = .post
    var task: HTTPTask
    var headers: HTTPHeaders = [:]
  }

  private let server = ProcessInfo.processInfo.environment["HTTPBIN"]

  override func setUpWithError() throws {
    try XCTSkipIf(server == nil, "HTTPBIN names no server; Tests/Interop/run starts one")
  }

  private func seen(
    _ path: String, _ task: HTTPTask, method: HTTPMethod = .post, headers: HTTPHeaders = [:]
  ) throws -> JSON {
    let network = Network(Backend(baseURL: try XCTUnwrap(URL(string: try XCTUnwrap(server)))))
    let call = Call(path: path, method: method, task: task, headers: headers)
    let recorded = record(network.request(call, as: JSON.self))
    if let error = recorded.error { throw error }
    return try XCTUnwrap(recorded.elements.first)
  }

  private func file(_ content: Data, _ name: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try content.write(to: file)
    return file
  }

  private let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

  func test_multipartForm_arrivesWithItsFieldsAndFiles() throws {
    var form = MultipartForm(["ids": [1, 2], "user": ["name": "网 é"] as Parameters, "empty": ""])
    form.append(.field("line", "1\r\n2\n--B\r\n"))
    form.append(.field("again", "a"))
    form.append(.field("again", "b"))
    form.append(.file(try file(Data("{\"a\":1}".utf8), "a.json"), name: "document"))
    form.append(.data(Data("<é>".utf8), name: "page", filename: "p.html"))
    let json = try seen("/post", .multipart(form))
    XCTAssertEqual(
      json["form"],
      ["ids[]": ["1", "2"], "user[name]": "网 é", "empty": "", "line": "1\r\n2\n--B\r\n", "again": ["a", "b"]])
    XCTAssertEqual(json["files"], ["document": "{\"a\":1}", "page": "<é>"])
    XCTAssertEqual(json["args"], [:])
    XCTAssertTrue(json["headers"]["Content-Type"].string?.hasPrefix("multipart/form-data; boundary=") == true)
  }

  func test_files_arriveWithTheirNamesAndTypes() throws {
    let names = ["a b.png", "q\"uote.txt", "北京 é.pdf", "semi;colon=x.csv", "no extension"]
    var form = MultipartForm(try names.map { .file(try file(Data($0.utf8), $0), name: "f[\($0)]") })
    var noted = MultipartForm.Part.data(Data([0, 255]), name: "\"名\"", filename: "x.bin", contentType: "image/x-own")
    noted.headers = ["X-Note": "one, two"]
    form.append(noted)
    let json = try seen("/parts", .multipart(form))
    XCTAssertEqual(json["files"].array?.map { $0["filename"].string }, names + ["x.bin"])
    XCTAssertEqual(json["files"].array?.map { $0["name"].string }, names.map { "f[\($0)]" } + ["\"名\""])
    XCTAssertEqual(
      json["files"].array?.map { $0["type"].string },
      ["image/png", "text/plain", "application/pdf", "text/csv", "application/octet-stream", "image/x-own"])
    XCTAssertEqual(
      json["files"].array?.map { $0["base64"].string },
      names.map { Data($0.utf8).base64EncodedString() } + ["AP8="])
    XCTAssertEqual(json["files"][5]["note"], "one, two")
  }

  func test_filesOfTheSameName_allArriveComplete() throws {
    let big = try file(bytes, "big.bin")
    let form = MultipartForm([
      .file(big, name: "f"), .data(Data(), name: "f", filename: "empty"), .file(big, name: "f", filename: "second"),
      .field("f", "no file"),
    ])
    let json = try seen("/parts", .multipart(form))
    XCTAssertEqual(
      json["files"].array?.map { $0["base64"].string },
      [bytes.base64EncodedString(), "", bytes.base64EncodedString()])
    XCTAssertEqual(json["files"].array?.map { $0["filename"].string }, ["big.bin", "empty", "second"])
    XCTAssertEqual(json["fields"], [["name": "f", "value": "no file"]])
  }

  func test_upload_arrivesWithTypeAndLength() throws {
    let json = try seen("/put", .upload(try file(bytes, "a.bin")), method: .put)
    XCTAssertEqual(json["data"].string, "data:application/octet-stream;base64," + bytes.base64EncodedString())
    XCTAssertEqual(json["headers"]["Content-Type"], "application/octet-stream")
    XCTAssertEqual(json["headers"]["Content-Length"], "300000")
    XCTAssertEqual(json["headers"]["Transfer-Encoding"].string, nil)
    let text = try seen("/post", .upload(try file(Data("网".utf8), "a.txt")))
    XCTAssertEqual(text["data"], "网")
    XCTAssertEqual(text["headers"]["Content-Type"], "text/plain")
  }

  private let awkward: Parameters = [
    "ids": [3, 1, 2], "user": ["name": "Ada L.", "tags": ["x y"]] as Parameters, "q": "a+b c&d=e;f/?é~-._%20#网😀\r\n",
    "flag": true, "half": 0.5, "none": nil, "empty": "", "k&=[ ü": "v",
  ]
  private let awkwardSeen: JSON = [
    "ids[]": ["3", "1", "2"], "user[name]": "Ada L.", "user[tags][]": "x y",
    "q": "a+b c&d=e;f/?é~-._%20#网😀\r\n", "flag": "1", "half": "0.5", "empty": "", "k&=[ ü": "v",
  ]

  func test_form_arrivesAsEncoded() throws {
    for encoding in [URLParameterEncoder.form, .init(destination: .body, spaces: .plus, unescaped: "")] {
      let json = try seen("/post", .parameters(awkward, encoding: encoding))
      XCTAssertEqual(json["form"], awkwardSeen)
      XCTAssertEqual(json["data"], "")
      XCTAssertEqual(json["args"], [:])
      XCTAssertEqual(json["headers"]["Content-Type"], "application/x-www-form-urlencoded; charset=utf-8")
    }
  }

  func test_query_arrivesAsEncoded() throws {
    for encoding in [URLParameterEncoder.query, .init(destination: .query, spaces: .plus, unescaped: "")] {
      let json = try seen("/get", .parameters(awkward, encoding: encoding), method: .get)
      XCTAssertEqual(json["args"], awkwardSeen)
      XCTAssertEqual(json["headers"]["Content-Length"].string, nil)
    }
  }

  func test_queryStyles_arriveAsEncoded() throws {
    let parameters: Parameters = ["a": [1, nil, 3], "o": ["k": false] as Parameters, "n": nil]
    let encoding = URLParameterEncoder(arrays: .indexed, objects: .dots, bools: .literal, nils: .null)
    XCTAssertEqual(
      try seen("/get", .parameters(parameters, encoding: encoding), method: .get)["args"],
      ["a[0]": "1", "a[1]": "null", "a[2]": "3", "o.k": "false", "n": "null"])
    XCTAssertEqual(
      try seen("/get", .parameters(parameters, encoding: URLParameterEncoder(arrays: .repeated)), method: .get)["args"],
      ["a": ["1", "3"], "o[k]": "0"])
  }

  func test_path_arrivesAsEncoded() throws {
    let json = try seen("./anything/\("a/b ü?#%".urlEscaped)/.", .none, method: .get)
    XCTAssertEqual(json["url"].string?.hasSuffix("/anything/a/b%20ü%3F%23%/"), true, "\(json["url"])")
  }

  func test_json_arrivesAsEncoded() throws {
    let parameters: Parameters = [
      "text": "\"\\/\u{1}\u{2028}网😀", "list": [1, nil, 3], "half": 1.0, "big": Int.max, "flag": false,
      "object": ["empty": [:] as Parameters] as Parameters,
      "mixed": [1, "x", true, nil] as JSON,
    ]
    for encoding in [JSONParameterEncoder.json, .init(prettyPrinted: true)] {
      let json = try seen("/post", .parameters(parameters, encoding: encoding))
      XCTAssertEqual(
        json["json"],
        [
          "text": "\"\\/\u{1}\u{2028}网😀", "list": [1, nil, 3], "half": 1.0, "big": 9_223_372_036_854_775_807,
          "flag": false, "object": ["empty": [:]], "mixed": [1, "x", true, nil],
        ])
      XCTAssertEqual(json["headers"]["Content-Type"], "application/json")
      XCTAssertEqual(json["form"], [:])
    }
  }

  func test_queryAndBody_arriveAsEncoded() throws {
    let form = try seen("/post", .query(["q": "a b"], .multipart(MultipartForm(["f": "网"]))))
    XCTAssertEqual(form["args"], ["q": "a b"])
    XCTAssertEqual(form["form"], ["f": "网"])
    let composite = try seen("/put", .composite(query: ["q": [1, 2]], body: ["b": true]), method: .put)
    XCTAssertEqual(composite["args"], ["q[]": ["1", "2"]])
    XCTAssertEqual(composite["json"], ["b": true])
  }

  func test_headers_arriveAsSent() throws {
    var headers: HTTPHeaders = [
      "X-Spaced": " a  b\t", "X-Quoted": "a, b; c=\"d\"", "X-Empty": "", "accept": "text/plain", "Accept": "a/b",
    ]
    headers = headers.merging(.basic(user: "ada", password: "love:lace"))
    headers.append("X-Twice", "1")
    headers.append("X-Twice", "2")
    let json = try seen("/headers", .none, method: .get, headers: headers)["headers"]
    XCTAssertEqual(json["X-Spaced"], "a  b")
    XCTAssertEqual(json["X-Quoted"], "a, b; c=\"d\"")
    XCTAssertEqual(json["X-Empty"], "")
    XCTAssertEqual(json["Accept"], "a/b")
    XCTAssertEqual(json["X-Twice"], "1,2")
    let user = try seen("/basic-auth/ada/love:lace", .none, method: .get, headers: headers)
    XCTAssertEqual(user, ["authenticated": true, "user": "ada"])
  }
}
