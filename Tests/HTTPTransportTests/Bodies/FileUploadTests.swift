#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  import LoopbackServer
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of bodies in files, which are read on a separate queue during the upload.
  final class FileUploadTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "body") }
    private let size = 8 << 20

    override func setUpWithError() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(count: size).write(to: file)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

    /// Creates a server that changes the file's length to `length` bytes while it receives a body, and accepts the
    /// body.
    private func changing(to length: Int) throws -> RawServer {
      try RawServer { [file] connection, _ in
        while let head = connection.receiveHead() {
          var left = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
          if left > 0 {
            connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            left -= connection.skip(10_000)
            truncate(file.path, off_t(length))
          }
          while left > 0 {
            let count = connection.skip(Swift.min(left, 1 << 16))
            guard count > 0 else { return }
            left -= count
          }
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
      }
    }

    func test_aFileTruncatedDuringTheUploadFails() throws {
      for body in [Request.Body.file(file), .parts([.data(Data("a".utf8)), .file(file)])] {
        try Data(count: size).write(to: file)
        let server = try changing(to: 1 << 20)
        let transport = try CurlTransport()
        let put = Request(method: .put, url: server.url, body: body)
        guard case .failure(let error) = try outcome(put, on: transport) else { return XCTFail("no error") }
        XCTAssertEqual(error.kind, .file)
        XCTAssert(error.reason.contains("may have changed during the upload"), error.reason)
        XCTAssertEqual(error.request?.url, server.url)
        XCTAssertEqual(try outcome(Request(url: server.url), on: transport).get().status, 200)
      }
    }

    func test_aFileThatGrowsIsSentWithTheDeclaredLength() throws {
      let server = try changing(to: 2 * size)
      let put = Request(method: .put, url: server.url, body: .file(file))
      XCTAssertEqual(try outcome(put, on: try CurlTransport()).get().metrics?.bytesSent, Int64(size))
    }

    func test_aFileChangedWhileItsRequestIsQueuedFails() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let first = PendingCall(self)
      _ = first.send(Request(url: server.url("/delay/300")), on: transport)
      let second = PendingCall(self)
      _ = second.send(Request(method: .put, url: server.url("/echo"), body: .file(file)), on: transport)
      try Data(count: 1000).write(to: file)
      XCTAssertEqual(try first.outcome().get().status, 200)
      guard case .failure(let error) = try second.outcome() else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .file)
      XCTAssert(error.reason.contains("has 1000 bytes instead of \(size)"), error.reason)
    }

    func test_aFileRemovedWhileItsRequestIsQueuedIsNamed() throws {
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 1))
      let first = PendingCall(self)
      _ = first.send(Request(url: server.url("/delay/300")), on: transport)
      let second = PendingCall(self)
      _ = second.send(Request(method: .put, url: server.url("/echo"), body: .file(file)), on: transport)
      try FileManager.default.removeItem(at: file)
      XCTAssertEqual(try first.outcome().get().status, 200)
      guard case .failure(let error) = try second.outcome() else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .invalidRequest)
      XCTAssert(error.reason.contains(file.path), error.reason)
    }

    func test_manyConcurrentFilesArriveComplete() throws {
      let content = Data(TestRoutes.pattern(1_000_000))
      try content.write(to: file)
      let server = try TestServer(routes: TestRoutes.make())
      let transport = try CurlTransport()
      let pendingCalls = (0..<20).map { _ in PendingCall(self) }
      for pending in pendingCalls {
        _ = pending.send(Request(method: .put, url: server.url("/echo"), body: .file(file)), on: transport)
      }
      for pending in pendingCalls { XCTAssertEqual(try pending.outcome().get().body, content) }
    }
  }
#endif
