import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayerRecording

/// Tests that replay the archives of four programs, and one of this package.
final class HARReplayTests: XCTestCase {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Recordings")

  private static let names = [
    "chromium", "chromium-sanitized", "firefox", "mitmproxy", "playwright", "example-of-ours",
  ]

  private func entries(_ name: String) throws -> [HAREntry] {
    try HARReader.entries(of: Self.folder.appending(path: "\(name).har"))
  }

  private func send(_ request: Request, _ name: String) throws -> Result<Response, NetworkError> {
    try send(request, on: try StubTransport(har: Self.folder.appending(path: "\(name).har")))
  }

  private func send(_ request: Request, on stub: StubTransport) throws -> Result<Response, NetworkError> {
    let result = Box(Result<Response, NetworkError>?.none)
    _ = stub.send(request) { result.value = $0 }
    XCTAssertTrue(holds { result.value != nil })
    return try XCTUnwrap(result.value)
  }

  func test_everyEntry_isReplayed() throws {
    for name in Self.names {
      let stub = try StubTransport(har: Self.folder.appending(path: "\(name).har"))
      for entry in try entries(name) where entry.resourceType != "websocket" {
        var request = Request(
          method: HTTPMethod(rawValue: entry.method), url: try XCTUnwrap(URL(string: entry.url)),
          headers: entry.requestHeaders.contentType)
        if case .text(let text, _) = entry.requestBody { request.body = .data(Data(text.utf8)) }
        request.options.redirects = .none
        switch try send(request, on: stub) {
        case .success(let response): XCTAssertEqual(response.status, entry.status, "\(name) \(entry.url)")
        case .failure(let error):
          let isCut = entry.status == 0 || entry.failure?.kind == "connection" || entry.fullCount != nil
          XCTAssert(isCut, "\(name) \(entry.url): \(error)")
        }
      }
    }
  }

  func test_bodies_areThoseOfTheServer() throws {
    for name in Self.names.dropLast() {
      for entry in try entries(name) where entry.status == 200 && entry.failure == nil {
        switch URL(string: entry.url)?.path {
        case "/binary": XCTAssertEqual(entry.body, Data(0...255), name)
        case "/image.png": XCTAssertEqual(entry.body.prefix(4), Data([0x89, 0x50, 0x4E, 0x47]), name)
        case "/latin1":
          let isUTF8 = entry.responseHeaders["Content-Type"] == "text/plain; charset=utf-8"
          XCTAssertEqual(String(data: entry.body, encoding: isUTF8 ? .utf8 : .isoLatin1), "café £", name)
        case "/api/items": XCTAssertNoThrow(try JSONSerialization.jsonObject(with: entry.body), name)
        case "/deflate": XCTAssert(entry.body.starts(with: Data("deflated text ".utf8)), name)
        case "/sse": XCTAssert(String(decoding: entry.body, as: UTF8.self).contains("data: {\"n\":0}\n"), name)
        default: break
        }
        for coded in ["Content-Encoding", "Content-Length", "Transfer-Encoding"] {
          XCTAssertNil(entry.responseHeaders[coded], "\(name) \(entry.url)")
        }
      }
    }
  }

  func test_redirects_areFollowedToRecordedRequests() throws {
    for name in ["chromium", "firefox", "mitmproxy", "playwright"] {
      let first = try XCTUnwrap(try entries(name).first { $0.url.hasSuffix("/redirect/1") }, name)
      let response = try send(Request(url: try XCTUnwrap(URL(string: first.url))), name).get()
      XCTAssertEqual(response.status, 201, name)
      XCTAssertEqual(response.redirects.map(\.status), [302, 307], name)
      XCTAssertEqual(response.url.path, "/api/echo", name)
    }
  }

  func test_failures_haveTheTextOfTheirProgram() throws {
    let reasons = [
      "chromium": "net::ERR_UNSAFE_PORT", "playwright": "net::ERR_UNSAFE_PORT", "firefox": "recorded failure",
    ]
    for (name, reason) in reasons {
      guard
        case .failure(let error) = try send(
          Request(url: try XCTUnwrap(URL(string: "http://127.0.0.1:1/refused"))), name)
      else { return XCTFail(name) }
      XCTAssertEqual(error.kind, .connection)
      XCTAssertEqual(error.reason, reason)
    }
  }

  func test_aResponseThatWasCut_fails() throws {
    let entry = try XCTUnwrap(try entries("chromium").first { $0.url.hasSuffix("/truncated") })
    XCTAssertEqual(entry.status, 200)
    XCTAssertEqual(entry.failure?.reason, "net::ERR_CONTENT_LENGTH_MISMATCH")
    let cut = try send(Request(url: try XCTUnwrap(URL(string: entry.url))), "chromium")
    XCTAssertThrowsError(try cut.get()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .connection) }
    let ours = try send(
      Request(url: try XCTUnwrap(URL(string: "https://api.example.com/v2/export.ndjson"))), "example-of-ours")
    XCTAssertThrowsError(try ours.get()) { XCTAssertEqual(($0 as? NetworkError)?.kind, .file) }
  }

  func test_secretsOfOtherPrograms_areNotReplayed() throws {
    for name in Self.names {
      for entry in try entries(name) {
        let text = String(decoding: HARWriter.encoded(entry.redacted(.standard)), as: UTF8.self)
        for secret in ["hunter2", "s3ss10n", "abc.def.ghi"] {
          XCTAssertFalse(text.contains(secret), "\(name): \(text)")
        }
      }
    }
  }

  func test_ourExample_isWrittenWithAllFacts() throws {
    let entries = try entries("example-of-ours")
    XCTAssertEqual(try HARReader.entries(in: HARWriter.archive(entries)), entries)
    XCTAssertEqual(entries.compactMap(\.facts.pause), [310, 640])
    XCTAssertEqual(entries.compactMap(\.facts.coalesced), [2])
    XCTAssertEqual(entries.compactMap(\.facts.cache), ["hit", "revalidated"])
    XCTAssertEqual(entries.map(\.messages.count).max(), 3)
    XCTAssertEqual(entries.map(\.events.count).max(), 2)
  }

  func test_descriptors_areClosed() throws {
    XCTAssertTrue(try closesDescriptors { _ in XCTAssertFalse(try entries("chromium").isEmpty) })
  }
}

extension HTTPHeaders {
  fileprivate var contentType: HTTPHeaders { self["Content-Type"].map { ["Content-Type": $0] } ?? [:] }
}
