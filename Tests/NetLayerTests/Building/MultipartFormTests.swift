import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class MultipartFormTests: XCTestCase {
  private func request(_ form: MultipartForm, _ common: Parameters = [:], type: String? = nil) throws -> Request {
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/")))
    request.headers["Content-Type"] = type
    try form.encode(over: common, into: &request)
    return request
  }

  private func text(_ request: Request) throws -> String {
    switch request.body {
    case .data(let data): return String(decoding: data, as: UTF8.self)
    case .parts:
      let spool = try spool(request)
      let attributes = try FileManager.default.attributesOfItem(atPath: spool.file.path)
      XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600, "others can read it")
      return try withExtendedLifetime(spool) { String(decoding: try Data(contentsOf: spool.file), as: UTF8.self) }
    default: return ""
    }
  }

  private func spool(_ request: Request) throws -> BodySpool {
    let written = expectation(description: "the body is in its file")
    let result = Locked<Result<BodySpool, NetworkError>?>(nil)
    let spooler = BodySpooler(request) { outcome in
      result.withLock { $0 = outcome }
      written.fulfill()
    }
    wait(for: [written], timeout: 20)
    return try withExtendedLifetime(spooler) { try XCTUnwrap(result.withLock { $0 }).get() }
  }

  private func file(_ text: String, _ name: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file
  }

  func test_row_0_8_fieldsDataAndFiles_areParts() throws {
    let form = MultipartForm(
      [
        .field("title", "网"), .data(Data("{}".utf8), name: "meta", filename: "m.json"),
        .file(try file("GIF", "a b.GIF"), name: "photo"),
      ], boundary: "B")
    let request = try request(form)
    XCTAssertEqual(request.headers["Content-Type"], "multipart/form-data; boundary=B")
    let lines = [
      "--B", "Content-Disposition: form-data; name=\"title\"", "", "网",
      "--B", "Content-Disposition: form-data; name=\"meta\"; filename=\"m.json\"", "Content-Type: application/json", "",
      "{}",
      "--B", "Content-Disposition: form-data; name=\"photo\"; filename=\"a b.GIF\"", "Content-Type: image/gif", "",
      "GIF",
      "--B--", "",
    ]
    XCTAssertEqual(try text(request), lines.joined(separator: "\r\n"))
  }

  func test_names_areEscapedAsInBrowsers() throws {
    let form = MultipartForm([.data(Data(), name: "a\"b\r\nc\nd\re", filename: "x\n\"y\\é.bin")], boundary: "B")
    let head = try text(request(form)).components(separatedBy: "\r\n")
    XCTAssertEqual(
      head[1], "Content-Disposition: form-data; name=\"a%22b%0D%0Ac%0D%0Ad%0D%0Ae\"; filename=\"x%0A%22y\\é.bin\"")
    XCTAssertEqual(head[2], "Content-Type: application/octet-stream")
  }

  func test_commonParameters_becomeFields_unlessTheFormHasThem() throws {
    var form = MultipartForm(["ids": [1, 2]], boundary: "B")
    form.append(.field("token", "mine"))
    let request = try request(form, ["token": "theirs", "v": "1"])
    let names = try text(request).components(separatedBy: "\r\n").filter { $0.hasPrefix("Content-Disposition") }
    XCTAssertEqual(
      names.map { $0.dropFirst("Content-Disposition: form-data; name=".count) },
      [
        "\"ids[]\"", "\"ids[]\"", "\"v\"", "\"token\"",
      ])
    XCTAssertFalse(try text(request).contains("theirs"))
  }

  func test_randomBoundary_isNotInTheContent_andAGivenOneIsChecked() throws {
    let first = try XCTUnwrap(try request(MultipartForm([.field("a", "b")])).headers["Content-Type"])
    let second = try XCTUnwrap(try request(MultipartForm([.field("a", "b")])).headers["Content-Type"])
    XCTAssertNotEqual(first, second)
    for boundary in ["in", "", "a b ", "ü", String(repeating: "a", count: 71), "a\r\nb", "a\"b"] {
      XCTAssertThrowsError(try request(MultipartForm([.field("a", "x\r\n--in--")], boundary: boundary)), boundary) {
        XCTAssertEqual(($0 as? NetworkError)?.kind, .encoding)
      }
    }
    let inFile = MultipartForm([.file(try file("--B", "x"), name: "f")], boundary: "B")
    XCTAssertThrowsError(try request(inFile))
    XCTAssertEqual(
      try request(MultipartForm(boundary: "a b")).headers["Content-Type"], "multipart/form-data; boundary=\"a b\"")
    XCTAssertThrowsError(
      try request(MultipartForm([.data(Data(), name: "a", contentType: "text/plain\r\nX: y")])))
  }

  func test_contentTypeOfTheCaller_receivesTheBoundary() throws {
    let form = MultipartForm([.field("a", "b")], boundary: "B")
    XCTAssertEqual(
      try request(form, type: "multipart/mixed").headers["Content-Type"], "multipart/mixed; boundary=B")
    XCTAssertEqual(try text(request(MultipartForm(boundary: "B"))), "--B--\r\n")
    XCTAssertEqual(
      try request(form, type: "multipart/mixed; charset=utf-8; boundary=mine").headers["Content-Type"],
      "multipart/mixed; charset=utf-8; boundary=B", "the boundary is the one in the body")
    XCTAssertEqual(
      try request(form, type: "application/json").headers["Content-Type"], "multipart/form-data; boundary=B")
    XCTAssertEqual(
      try request(form, type: "multipart/related;a=\"x; boundary=y\" ;Boundary=\"q;r\";b=c").headers["Content-Type"],
      "multipart/related; a=\"x; boundary=y\"; b=c; boundary=B")
  }

  func test_bodySource_readsPartsInAnySize_andFromAnyOffsetAgain() throws {
    let parts: [Request.Body.Part] = [
      .data(Data("ab".utf8)), .file(try file("cdefg", "x")), .data(Data()), .data(Data("hi".utf8)),
    ]
    let request = Request(url: try XCTUnwrap(URL(string: "http://h/")), body: .parts(parts))
    let source = try BodySource(parts: parts, of: request)
    XCTAssertEqual(source.count, 9)
    XCTAssertNil(request.body.byteCount)
    for start in 0...9 {
      XCTAssertTrue(source.seek(to: Int64(start)))
      var result = ""
      var buffer = [UInt8](repeating: 0, count: 3)
      while case let got = buffer.withUnsafeMutableBytes({ source.read(into: $0) }), got > 0 {
        result += String(decoding: buffer[..<got], as: UTF8.self)
      }
      XCTAssertEqual(result, String("abcdefghi".dropFirst(start)))
    }
    XCTAssertFalse(source.seek(to: 10))
  }

  func test_contentType_followsTheFileExtension() {
    for (name, type) in [
      ("a.JPG", "image/jpeg"), ("b.tar.gz", "application/gzip"), ("c", "application/octet-stream"),
      ("d.json", "application/json"), ("e.unknown", "application/octet-stream"), (".txt", "text/plain"),
      ("f.opus", "audio/ogg"), ("g.3GP", "video/3gpp"), ("h.log", "text/plain"), ("i.xz", "application/x-xz"),
      ("j.odt", "application/vnd.oasis.opendocument.text"), ("k.pem", "application/x-x509-ca-cert"),
    ] { XCTAssertEqual(MIMEType.ofFile(named: name), type, name) }
  }

  func test_part_canHaveCustomHeaders_exceptThoseOfTheForm() throws {
    var part = MultipartForm.Part.data(Data("x".utf8), name: "a", filename: "a.txt")
    part.headers = ["X-One": " 1 ", "Content-Transfer-Encoding": "binary"]
    XCTAssertEqual(
      try text(request(MultipartForm([part], boundary: "B"))),
      "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n"
        + "X-One: 1\r\nContent-Transfer-Encoding: binary\r\n\r\nx\r\n--B--\r\n")
    for (name, value) in [
      ("content-type", "a/b"), ("CONTENT-LENGTH", "1"), ("Content-Disposition", "x"), ("X Y", "z"), ("", "z"),
      ("X", "a\r\nY: z"), ("X", "a\0"),
    ] {
      part.headers = [name: value]
      XCTAssertThrowsError(try request(MultipartForm([part])), name) { error in
        XCTAssertEqual((error as? NetworkError)?.kind, .encoding)
        XCTAssertTrue((error as? NetworkError)?.reason.contains("\"a\"") == true)
      }
    }
  }

  func test_emptyContentType_isIgnored() throws {
    let file = try file("x", "a.json")
    XCTAssertEqual(MultipartForm.Part.file(file, name: "f", contentType: "").contentType, "application/json")
    XCTAssertEqual(
      MultipartForm.Part.data(Data(), name: "f", filename: "a.png", contentType: "").contentType, "image/png")
    let part = MultipartForm.Part(name: "a", contentType: "", content: .data(Data()))
    XCTAssertFalse(try text(request(MultipartForm([part]))).contains("Content-Type"))
  }

  func test_unreadableFile_isAnErrorWithItsPath() throws {
    let there = try file("x", "a.txt")
    let folder = there.deletingLastPathComponent()
    for (url, place) in [
      (folder.appending(path: "none.txt"), "none.txt"), (folder, folder.lastPathComponent),
      (there.appending(path: "below"), "a.txt/below"),
      (try XCTUnwrap(URL(string: "https://h/x.png")), "https://h/x.png"),
    ] {
      XCTAssertThrowsError(try request(MultipartForm([.file(there, name: "a"), .file(url, name: "f")])), place) {
        let error = $0 as? NetworkError
        XCTAssertEqual(error?.kind, .invalidRequest)
        XCTAssertTrue(error?.reason.contains(place) == true, error?.reason ?? "")
      }
      XCTAssertThrowsError(try MultipartForm([.file(url, name: "f")]).encoded())
    }
  }

  func test_encoded_equalsTheSentBody() throws {
    var form = MultipartForm(["b": 1], boundary: "B")
    form.append(.file(try file("GIF", "a.gif"), name: "photo"))
    let sent = try request(form)
    let (type, body) = try form.encoded()
    XCTAssertEqual(type, sent.headers["Content-Type"])
    XCTAssertEqual(String(decoding: body, as: UTF8.self), try text(sent))
    let (fresh, content) = try MultipartForm([.field("a", "1")]).encoded()
    let boundary = try XCTUnwrap(MediaType(fresh).parameter("boundary"))
    XCTAssertTrue(String(decoding: content, as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
  }

  func test_multilineText_isSentUnchanged() throws {
    let form = MultipartForm([.field("a", "1\n2\r3\r\n4")], boundary: "B")
    XCTAssertTrue(try text(request(form)).hasSuffix("\r\n\r\n1\n2\r3\r\n4\r\n--B--\r\n"))
  }
}
