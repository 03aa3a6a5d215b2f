import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import XCTest

/// Tests of methods, header fields, bodies and connections.
extension TransportSuite {
  func test_everyMethodArrivesUnchanged() throws {
    for method in [HTTPMethod.get, .post, .put, .patch, .delete, .options, "PURGE"] {
      let reply = try response(request(method, "/echo"))
      XCTAssertEqual(reply.headers["X-Method"], method.rawValue)
      XCTAssertEqual(reply.body, Data())
    }
  }

  func test_headHasHeadersAndNoBody() throws {
    let reply = try response(request(.head, "/text"))
    XCTAssertEqual(reply.status, 200)
    XCTAssertEqual(reply.headers["Content-Length"], "5")
    XCTAssertEqual(reply.body, Data())
    try assertStillServes()
  }

  func test_aGETFollowsAPOSTOnTheSameConnection() throws {
    XCTAssertEqual(try response(request(.post, "/echo", body: .data(Data("x".utf8)))).body, Data("x".utf8))
    let reply = try response(request(.get, "/echo"))
    XCTAssertEqual(reply.headers["X-Method"], "GET")
    XCTAssertEqual(reply.headers["X-Length"], "none")
  }

  func test_everyStatusIsAResponse() throws {
    for status in [200, 201, 204, 304, 400, 401, 404, 500, 503] {
      XCTAssertEqual(try response(request(.get, "/status/\(status)")).status, status)
    }
  }

  func test_aBasicChallengeIsAResponse() throws {
    let reply = try response(request(.get, "/basic"))
    XCTAssertEqual(reply.status, 401)
    XCTAssertEqual(reply.body, Data("who are you".utf8))
  }

  func test_theQueryArrives() throws {
    XCTAssertEqual(try response(request(.get, "/echo?q=a%20b%26c")).headers["X-Query"], "a b&c")
  }

  func test_theFragmentIsNotSent() throws {
    let sent = request(.get, "/text#part")
    XCTAssertEqual(try response(sent).status, 200)
    XCTAssertEqual(server.requests.map(\.target), ["/text"])
  }

  func test_headersArriveUnchanged() throws {
    let sent: HTTPHeaders = ["X-One": "1", "X-Spaced": "a b  c", "Accept": "application/json"]
    let received = String(decoding: try response(request(.get, "/headers", headers: sent)).body, as: UTF8.self)
      .split(separator: "\n")
    for field in sent { XCTAssert(received.contains("\(field.name): \(field.value)"), "\(received)") }
  }

  func test_anEmptyHeaderValueIsSent() throws {
    let reply = try response(request(.get, "/headers", headers: ["X-Empty": ""]))
    XCTAssert(String(decoding: reply.body, as: UTF8.self).contains("X-Empty: "))
  }

  func test_noExpectationAndNoFormTypeAreAdded() throws {
    let reply = try response(request(.post, "/headers", body: .data(Data(count: 1 << 20))))
    let text = String(decoding: reply.body, as: UTF8.self).lowercased()
    XCTAssertFalse(text.contains("expect:"), text)
    XCTAssert(text.contains("content-length: \(1 << 20)"), text)
  }

  func test_duplicateHeadersStaySeparateAndInOrder() throws {
    let headers = try response(request(.get, "/duplicates")).headers
    XCTAssertEqual(headers.values(of: "set-cookie"), ["a=1; Path=/", "b=2"])
    let names = headers.map(\.name).filter { $0 == "Set-Cookie" || $0 == "X-Between" }
    XCTAssertEqual(names, ["Set-Cookie", "X-Between", "Set-Cookie"])
  }

  func test_cookiesAreNotStoredByDefault() throws {
    _ = try response(request(.get, "/duplicates"))
    let text = String(decoding: try response(request(.get, "/headers")).body, as: UTF8.self)
    XCTAssertFalse(text.lowercased().contains("cookie:"), text)
  }

  func test_latin1HeaderBytesBecomeCharacters() throws {
    XCTAssertEqual(try response(request(.get, "/latin1")).headers["X-Name"], "café")
  }

  func test_anInformationalHeadIsIgnored() throws {
    let reply = try response(request(.get, "/early-hints"))
    XCTAssertEqual(reply.status, 200)
    XCTAssertEqual(reply.headers["X-Late"], "2")
    XCTAssertNil(reply.headers["X-Early"])
    XCTAssertEqual(reply.body, Data("ok".utf8))
  }

  func test_bodiesOfManySizesArrive() throws {
    for count in [0, 1, 14, 15, 1000, 16_384, 65_537, 1 << 20] {
      let reply = try response(request(.get, "/bytes/\(count)"))
      XCTAssertEqual(reply.body, Data(TestRoutes.pattern(count)), "\(count) bytes")
    }
  }

  func test_bodiesOfManySizesAreSent() throws {
    for count in [0, 1, 1000, 65_536, 65_537, 1 << 20] {
      let body = Data(TestRoutes.pattern(count))
      let reply = try response(request(.post, "/echo", headers: ["Content-Type": "x/y"], body: .data(body)))
      XCTAssertEqual(reply.body, body, "\(count) bytes")
      XCTAssertEqual(reply.headers["X-Length"], "\(count)")
      XCTAssertEqual(reply.headers["Content-Type"], "x/y")
    }
  }

  func test_everyMethodExceptHEADMayHaveABody() throws {
    for method in [HTTPMethod.post, .put, .patch, .delete, .options, "REPORT"] {
      let reply = try response(request(method, "/echo", body: .data(Data("content".utf8))))
      XCTAssertEqual(reply.body, Data("content".utf8), method.rawValue)
      XCTAssertEqual(reply.headers["X-Method"], method.rawValue)
    }
    try failure(request(.head, "/echo", body: .data(Data("content".utf8))), .invalidRequest)
  }

  func test_aSliceOfDataIsSentFromItsStart() throws {
    let whole = Data(TestRoutes.pattern(200_000))
    for slice in [whole[100..<200], whole[1000...]] {
      XCTAssertEqual(try response(request(.put, "/echo", body: .data(slice))).body, Data(slice))
    }
  }

  func test_aFileIsSentWithItsContentLength() throws {
    for count in [0, 10, 300_000] {
      let content = Data(TestRoutes.pattern(count))
      let reply = try response(request(.put, "/echo", body: .file(try temporaryFile(content))))
      XCTAssertEqual(reply.body, content)
      XCTAssertEqual(reply.headers["X-Length"], "\(count)")
    }
  }

  func test_aMissingFileIsRejectedAndNamed() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "no-such-file-\(UUID().uuidString)")
    let error = try failure(request(.post, "/echo", body: .file(file)), .invalidRequest)
    XCTAssert(error.reason.contains(file.lastPathComponent), error.reason)
  }

  func test_aChunkedBodyArrivesComplete() throws {
    XCTAssertEqual(try response(request(.get, "/chunked")).body, Data("one,two,three".utf8))
  }

  func test_gzipIsRequestedAndDecoded() throws {
    let text = String(decoding: try response(request(.get, "/headers")).body, as: UTF8.self)
    XCTAssert(text.lowercased().contains("accept-encoding:"), text)
    XCTAssertEqual(try response(request(.get, "/gzip")).body, Data(TestRoutes.message.utf8))
  }

  func test_connectionsAreReused() throws {
    for _ in 0..<20 { try assertStillServes() }
    XCTAssertEqual(server.requestCount, 20)
    XCTAssertLessThanOrEqual(server.connectionCount, 2)
  }

  func test_theResponseNamesTheRequest() throws {
    let sent = request(.get, "/text", headers: ["X-One": "1"])
    let reply = try response(sent)
    XCTAssertEqual(reply.request.url, sent.url)
    XCTAssertEqual(reply.request.headers, sent.headers)
    XCTAssertEqual(reply.url, sent.url)
  }
}
