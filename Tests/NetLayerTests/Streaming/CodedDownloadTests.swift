import Foundation
import LoopbackServer
import NetLayer
import Streams
import TestSupport
import XCTest

/// Downloads from a server that applies a content coding although the request accepts none.
final class CodedDownloadTests: XCTestCase {
  /// The gzip format of "hello hello hello hello".
  private static let coded: [UInt8] = [
    0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 1, 0xe3, 0x51, 0x3d, 0x8d,
    0x17, 0, 0, 0,
  ]
  private static let plain = "hello hello hello hello"

  private let file = FileManager.default.temporaryDirectory.appending(path: "coded-\(UUID().uuidString)")

  override func tearDown() {
    for name in [file, file.appendingPathExtension("part"), file.appendingPathExtension("part.json")] {
      try? FileManager.default.removeItem(at: name)
    }
  }

  private func network(_ coding: String) throws -> (Network, TestServer) {
    let server = try TestServer { _ in
      .bytes(Self.coded).header("Content-Encoding", coding).header("ETag", "\"1\"")
    }
    return (Network(Backend(baseURL: server.url)), server)
  }

  func test_codedFile_isRefused_andLeavesNothing() async throws {
    for coding in ["gzip", "x-gzip", "br", "compress"] {
      let (network, server) = try network(coding)
      do {
        _ = try await network.download(.get("/file"), to: file)
        XCTFail("the file has coded bytes")
      } catch {
        XCTAssertEqual(error.kind, .parse)
        XCTAssertTrue(error.reason.contains("Content-Encoding \"\(coding)\""), error.reason)
        XCTAssertTrue(error.reason.contains(".download(to:)"), error.reason)
      }
      XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))
      XCTAssertEqual(server.requests.map { $0.header("Accept-Encoding") }, ["identity"])
    }
  }

  func test_namesThatAreNoCoding_areIgnored() async throws {
    for name in ["UTF-8", "identity", "none"] {
      let (network, server) = try network(name)
      _ = try await network.download(.get("/file"), to: file)
      XCTAssertEqual(try Data(contentsOf: file), Data(Self.coded), name)
      _ = server
    }
  }

  func test_remediesOfTheError_work() async throws {
    let (network, server) = try network("gzip")
    _ = try await network.fetch(Call(.get, "/file", task: .download(to: file)))
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), Self.plain)
    _ = try await network.download(.get("/file").header("Accept-Encoding", "gzip"), to: file)
    XCTAssertEqual(try Data(contentsOf: file), Data(Self.coded))
    XCTAssertEqual(server.requests.last?.header("Accept-Encoding"), "gzip")
  }
}
