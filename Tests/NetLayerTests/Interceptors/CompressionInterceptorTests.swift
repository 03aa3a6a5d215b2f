import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class CompressionInterceptorTests: XCTestCase {
  private func network(_ transport: any Transport, minSize: Int = 1400, signer: (any Signer)? = nil) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: transport, signer: signer,
        interceptors: [CompressionInterceptor(minSize: minSize)]))
  }

  private func sent(_ call: Call<Response>, minSize: Int = 1400, signer: (any Signer)? = nil) async throws -> Request {
    let stub = StubTransport { _ in .json("{}") }
    try await network(stub, minSize: minSize, signer: signer).fetch(call)
    return try XCTUnwrap(stub.requests.first)
  }

  private func body(_ request: Request) -> Data {
    if case .data(let data) = request.body { data } else { Data() }
  }

  /// Decompresses with the program of the system, which nobody here wrote.
  private func gunzip(_ data: Data) throws -> Data {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", file.path]
    let pipe = Pipe()
    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    defer { try? pipe.fileHandleForReading.close() }
    process.standardOutput = pipe
    try process.run()
    let plain = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0)
    return plain
  }

  func test_everyBody_isRestoredByGzip() throws {
    var random = randomNumbers()
    let bodies = [
      Data(), Data([0]), Data(String(repeating: "a", count: 3_000_000).utf8),
      Data((0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) }),
      Data((0..<(1 << 16)).map { _ in UInt8.random(in: 0...255, using: &random) }),
    ]
    for plain in bodies {
      let short = try XCTUnwrap(Gzip.compress(plain))
      XCTAssertEqual(try gunzip(short), plain, "\(plain.count) bytes")
    }
  }

  private let text = String(repeating: "hello ", count: 1000)

  func test_longBodies_areCompressed() async throws {
    let request = try await sent(.post("/a", json: ["text": text]))
    XCTAssertEqual(request.headers["Content-Encoding"], "gzip")
    XCTAssertEqual(request.headers["Content-Type"], "application/json")
    XCTAssertLessThan(body(request).count, 100)
    XCTAssertEqual(try gunzip(body(request)), Data("{\"text\":\"\(text)\"}".utf8))
  }

  func test_aLengthOfThePlainBody_isRemoved() async throws {
    let request = try await sent(
      Call.post("/a", json: ["text": text]).header("Content-Length", "\(text.utf8.count + 11)"))
    XCTAssertEqual(request.headers["Content-Encoding"], "gzip")
    XCTAssertNil(request.headers["Content-Length"])
  }

  func test_otherBodies_areUnchanged() async throws {
    var numbers = randomNumbers()
    let random = Data((0..<5000).map { _ in UInt8.random(in: 0...255, using: &numbers) })
    let calls: [Call<Response>] = [
      .post("/a", json: ["text": "short"]), .post("/a", .data(random, contentType: "image/png")), .get("/a"),
      Call.post("/a", json: ["text": text]).header("Content-Encoding", "identity"),
      .post("/a", .upload(URL(filePath: #filePath))),
    ]
    for call in calls {
      let request = try await sent(call)
      XCTAssertNotEqual(request.headers["Content-Encoding"], "gzip", "\(call.path)")
    }
    let small = try await sent(
      .post("/a", json: ["text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]), minSize: 0)
    XCTAssertEqual(small.headers["Content-Encoding"], "gzip")
  }

  func test_signedBody_isCompressedAfterItIsSigned() async throws {
    let seen = Notes()
    let signer = ClosureSigner { content in
      if case .data(let data) = content.request.body { seen.add("\(data.count)") }
      return RequestSignature(parameters: ["sign": "s"])
    }
    let request = try await sent(.post("/a", json: ["text": text]), signer: signer)
    XCTAssertEqual(seen.all, ["\(text.utf8.count + 11)"])
    XCTAssertEqual(request.headers["Content-Encoding"], "gzip")
    XCTAssertEqual(try gunzip(body(request)), Data("{\"sign\":\"s\",\"text\":\"\(text)\"}".utf8))
  }

  func test_signedRequestThatIsSentAgain_isNotCompressedTwice() async throws {
    let stub = StubTransport { _ in .json("{}") }
    for parameters in [["sign": "s"] as Parameters, [:]] {
      let api = network(
        stub, signer: ClosureSigner { _ in RequestSignature(parameters: parameters, headers: ["S": "s"]) })
      let first = try await api.response(.post("/a", json: ["text": text]))
      let again = try await api.send(first.request).value
      XCTAssertEqual(again.request.headers["Content-Encoding"], "gzip")
      XCTAssertEqual(try gunzip(body(again.request)), try gunzip(body(first.request)))
    }
  }

  func test_server_receivesTheCompressedBytes() async throws {
    let received = Box<[[UInt8]]>([])
    let server = try TestServer { request in
      received.update { $0.append(request.body) }
      return .json("{}", status: request.header("Content-Encoding") == "gzip" ? 200 : 415)
    }
    let api = Network(Backend(baseURL: server.url, interceptors: [CompressionInterceptor()]))
    try await api.fetch(.post("/a", json: ["text": text]))
    XCTAssertEqual(try gunzip(Data(received.value.first ?? [])), Data("{\"text\":\"\(text)\"}".utf8))
  }
}
