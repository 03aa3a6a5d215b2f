import Foundation
import HTTPTransport
import NetLayer
import XCTest

/// Tests of the requests that are rejected before they are sent.
final class RequestCheckTests: XCTestCase {
  private func failure(_ url: String) throws -> String? {
    RequestCheck.failure(of: Request(url: try XCTUnwrap(URL(string: "http://h/"))), url: url)?.reason
  }

  private func reason(_ request: Request) -> String {
    let failure = RequestCheck.failure(of: request, url: request.url.absoluteString)
    if let failure { XCTAssertEqual(failure.kind, .invalidRequest) }
    return failure?.reason ?? "sent"
  }

  func test_atraceWithABodyIsRejected() throws {
    var trace = Request(method: .trace, url: try XCTUnwrap(URL(string: "http://h/")))
    XCTAssertEqual(reason(trace), "sent")
    trace.body = .data(Data())
    XCTAssertEqual(reason(trace), "sent")
    for body in [Request.Body.data(Data([1])), .stream(.init(open: { { nil } }))] {
      trace.body = body
      XCTAssert(reason(trace).contains("TRACE must not have a body"), reason(trace))
    }
  }

  func test_connectIsRejected_andTheErrorNamesTheProxySetting() throws {
    let connect = Request(method: "CONNECT", url: try XCTUnwrap(URL(string: "http://h/p")))
    XCTAssert(reason(connect).contains("CONNECT"), reason(connect))
    XCTAssert(reason(connect).contains("Configuration.proxy"), reason(connect))
  }

  func test_invalidTimeLimitsAreRejectedAndNamed() throws {
    let url = try XCTUnwrap(URL(string: "http://h/"))
    for (limits, words) in [
      (Request.Timeouts(connect: .seconds(-1)), "Timeouts.connect is -1.0 s"),
      (.init(idle: .zero), "Timeouts.idle is 0.0 s"),
      (.init(attempt: .milliseconds(-500)), "Timeouts.attempt is -0.5 s"),
      (.init(call: .seconds(Int64.min)), "Timeouts.call is -9.223372036854776e+18 s"),
    ] {
      let refusal = reason(Request(url: url, timeouts: limits))
      XCTAssert(refusal.contains(words + "; set a positive duration, or nil for no limit"), refusal)
    }
    let longest = Duration.seconds(Int64.max)
    for limits in [
      Request.Timeouts(connect: nil, idle: nil, attempt: nil),
      .init(connect: .nanoseconds(1), idle: longest, attempt: longest),
    ] {
      XCTAssertEqual(reason(Request(url: url, timeouts: limits)), "sent")
    }
  }

  func test_anInvalidLimitOfABodyIsRejectedAndNamed() throws {
    var body = Request.BodyStream(once: { nil })
    for (limit, words) in [(Duration.zero, "chunkTimeout is 0.0 s"), (.seconds(-1), "chunkTimeout is -1.0 s")] {
      body.chunkTimeout = limit
      let refusal = reason(Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/")), body: .stream(body)))
      XCTAssert(refusal.contains(words + "; set a positive duration, or nil for no limit"), refusal)
    }
  }

  func test_proxyCredentialsAreNotSentToAnHTTPSServer() throws {
    for (url, isSent) in [("http://h/", true), ("https://h/", false), ("HTTPS://h/", false)] {
      let headers: HTTPHeaders = ["proxy-authorization": "Basic c2VjcmV0"]
      let refusal = reason(Request(url: try XCTUnwrap(URL(string: url)), headers: headers))
      XCTAssertEqual(refusal == "sent", isSent, refusal)
      XCTAssert(isSent || refusal.contains("Configuration.proxy"), refusal)
      XCTAssertFalse(refusal.contains("c2VjcmV0"), refusal)
    }
  }

  func test_validURLsAreAccepted() throws {
    let label = String(repeating: "a", count: 63)
    for url in [
      "http://h", "https://h", "http://127.0.0.1:8080/x?y#z", "http://EXAMPLE.com?q", "http://h:/x", "http://a.b./",
      "http://h:65535/", "http://\(label).com/", "http://user:secret@h/", "http://[::1]:80/", "HTTP://h/", "http://_a/",
      "http://h/a\\b", "http://h/\u{e9}",
    ] {
      XCTAssertNil(try failure(url), url)
    }
  }

  func test_invalidURLsAreRejected() throws {
    for url in [
      "http:/h", "http://", "https:///x", "http://?x", "http://:80/", "http://h:0/", "http://h:65536/", "http://h:8o/",
      "http://h:80a/", "http://h:1:2/", "http://a..b/", "http://.a/", "http://\(String(repeating: "a", count: 64)).b/",
      "http://\(String(repeating: "a.", count: 130))b/", "http://h/ x", "http://h/\u{7f}", "http://h/\r\nX: y",
      "http://h\\@evil/", "http://a b/", "http://h\0/", "ftp://h/", "http:h", "httpx://h/", "http://a,b\"/",
    ] {
      XCTAssertNotNil(try failure(url), url)
    }
  }
}
