import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Uploads and downloads over a real connection, with the default transport.
class TransferTests: XCTestCase {
  private struct Call: Endpoint {
    var path = "/"
    var method: HTTPMethod = .post
    var task: HTTPTask
  }

  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    return folder
  }

  func makeTransport() throws -> any Transport { DefaultTransport.make() }

  private func network(_ server: TestServer) throws -> Network {
    Network(
      Backend(baseURL: server.url, commonParameters: { ["token": "t"] }, transport: try makeTransport()))
  }

  func test_row_0_8_multipartForm_hasALength_andCanBeSentAgain() throws {
    let server = try TestServer { _ in .status(204) }
    let file = try folder().appending(path: "big.bin")
    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    try content.write(to: file)
    var form = MultipartForm(["n": 1], boundary: "B")
    form.append(.file(file, name: "f"))
    let call = try network(server).request(Call(task: .multipart(form)).as(Void.self))
    for _ in 1...2 { XCTAssertEqual(record(call).completions, 1) }
    for request in server.requests {
      XCTAssertEqual(request.header("Content-Length"), String(request.body.count))
      XCTAssertEqual(request.header("Content-Type"), "multipart/form-data; boundary=B")
      XCTAssertNil(request.header("Transfer-Encoding"))
      XCTAssertNotNil(Data(request.body).range(of: content))
      XCTAssertTrue(
        String(decoding: request.body.prefix(200), as: UTF8.self).contains("name=\"token\"\r\n\r\nt\r\n--B"))
    }
    XCTAssertEqual(server.requests[0].body, server.requests[1].body)
  }

  func test_row_2_5_file_isUploadedWithItsType() throws {
    let server = try TestServer { _ in .status(204) }
    let file = try folder().appending(path: "a.json")
    try Data("[1]".utf8).write(to: file)
    XCTAssertEqual(record(try network(server).request(Call(task: .upload(file)).as(Void.self))).completions, 1)
    XCTAssertEqual(server.requests[0].text, "[1]")
    XCTAssertEqual(server.requests[0].header("Content-Type"), "application/json")
    XCTAssertEqual(server.requests[0].target, "/?token=t")
    let missing = try folder().appending(path: "missing")
    let error = try failure(of: network(server).request(Call(task: .upload(missing)).as(Void.self)))
    XCTAssertEqual(error.kind, .invalidRequest)
    XCTAssertEqual(server.requests.count, 1)
  }

  func test_bodyIsCreatedWhileItIsSentAndAgainForTheNextCall() throws {
    let server = try TestServer { _ in .status(204) }
    for count in [Int64(300_000), nil] {
      let stream = Request.BodyStream(count: count) {
        let left = Locked(30)
        return {
          left.withLock { left in
            left -= 1
            return left >= 0 ? Data(repeating: UInt8(left), count: 10_000) : nil
          }
        }
      }
      let call = try network(server).request(Call(task: .stream(stream, contentType: "text/csv")).as(Void.self))
      for _ in 1...2 { XCTAssertEqual(record(call).completions, 1) }
      for request in server.requests.suffix(2) {
        XCTAssertEqual(
          request.body, (0..<30).reversed().flatMap { [UInt8](repeating: $0, count: 10_000) },
          "\(count.map(String.init) ?? "no length")")
        XCTAssertEqual(
          request.header("Content-Length"), count.map(String.init), "\(count.map(String.init) ?? "no length")")
        XCTAssertEqual(request.header("Content-Type"), "text/csv")
        XCTAssertEqual(request.target, "/?token=t")
      }
    }
    XCTAssertEqual(server.requests.count, 4)
  }

  func test_row_0_12_download_isMovedToItsFile_whenComplete() throws {
    var routes = TestServer.Routes()
    let bytes = [UInt8](repeating: 7, count: 200_000)
    routes.on("GET", "/big") { _ in .bytes(bytes) }
    routes.on("GET", "/empty") { _ in .status(204) }
    routes.on("GET", "/moved") { _ in .redirect(to: "/big") }
    routes.on("GET", "/short") { _ in .truncatedBody() }
    routes.on("GET", "/down") { _ in .json(#"{"code":1,"message":"no"}"#, status: 503) }
    let server = try TestServer(routes: routes)
    let network = try network(server)
    let folder = try folder()
    let file = folder.appending(path: "saved")
    @Sendable func download(_ path: String) -> Single<Response> {
      network.request(Call(path: path, method: .get, task: .download(to: file)))
    }
    for path in ["/big", "/moved"] {
      let response = try XCTUnwrap(record(download(path)).elements.first)
      XCTAssertEqual(response.file, file)
      XCTAssertEqual(response.body.count, 0)
      XCTAssertEqual(try Data(contentsOf: file), Data(bytes))
    }
    XCTAssertEqual(try failure(of: download("/short")).kind, .connection)
    XCTAssertEqual(try Data(contentsOf: file), Data(bytes), "the file of before is still whole")
    let refused = try failure(of: download("/down"))
    XCTAssertEqual(refused.message, "no")
    XCTAssertNotNil(refused.response)
    XCTAssertNil(refused.response?.file)
    XCTAssertEqual(record(download("/empty")).elements.first?.file, file)
    XCTAssertEqual(try Data(contentsOf: file), Data())
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["saved"])
    let nowhere = network.request(
      Call(path: "/big", method: .get, task: .download(to: folder.appending(path: "no/such"))))
    XCTAssertEqual(try failure(of: nowhere).kind, .file)
  }
}

#if HAS_URLSESSION
  final class URLSessionTransferTests: TransferTests {
    override func makeTransport() throws -> any Transport { URLSessionTransport() }
  }
#endif

final class ForeignTransportTransferTests: XCTestCase {
  func test_row_0_12_download_works_whenTheTransportDoesNotWriteFiles() throws {
    struct Save: Endpoint {
      let file: URL
      var path: String { "/a" }
      var task: HTTPTask { .download(to: file) }
    }
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: StubTransport { _ in .json("[1]") }))
    XCTAssertEqual(record(network.request(Save(file: file))).elements.first?.file, file)
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "[1]")
  }
}
