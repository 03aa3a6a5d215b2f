import Foundation
import LoopbackServer
import NetLayer
import NetLayerRecording
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayerInspector

/// Tests of the rules that keep other pages, programs and users of the machine out.
final class InspectorSecurityTests: XCTestCase {
  private func inspector() throws -> Page { try Page(Inspector(Recorder())) }

  func test_theSecretInThePathHas128Bits_andDiffersForEachInspector() throws {
    let paths = try (0..<20).map { _ in try inspector().secret }
    XCTAssertEqual(Set(paths).count, 20)
    for path in paths { XCTAssert(path.wholeMatch(of: /[0-9a-f]{32}/) != nil, path) }
    // Each digit varies, so no part is constant.
    for index in 0..<32 { XCTAssertGreaterThan(Set(paths.map { Array($0)[index] }).count, 1) }
  }

  func test_onlyTheHostsOfThisServerAreAccepted() throws {
    let page = try inspector()
    for host in ["127.0.0.1:\(page.port)", "localhost:\(page.port)"] {
      XCTAssertEqual(try page.get("", host: [host]).status, 200)
      XCTAssertEqual(try page.get("har", host: [host]).status, 200)
    }
    let foreign = [
      [], ["127.0.0.1"], ["localhost"], ["127.0.0.1:80"], ["rebind.example:\(page.port)"], ["[::1]:\(page.port)"],
      ["127.0.0.1:\(page.port)."], ["127.0.0.1.:\(page.port)"], ["127.0.0.1:\(page.port)", "127.0.0.1:\(page.port)"],
      ["x@127.0.0.1:\(page.port)"], ["127.0.0.1:0\(page.port)"], ["0.0.0.0:\(page.port)"],
    ]
    for hosts in foreign {
      for path in ["", "har", "events", "calls/1"] {
        let response = try page.get(path, host: hosts)
        XCTAssertEqual(response.status, 421, "\(hosts) \(path)")
        XCTAssertFalse(response.text.contains(page.secret))
      }
    }
  }

  func test_everyOtherPathHasTheSameResponse() throws {
    let page = try inspector()
    let secret = page.secret
    let wrong = String(secret.dropLast()) + (secret.last == "0" ? "1" : "0")
    let paths = [
      "/", "/favicon.ico", "/\(wrong)", "/\(wrong)/har", "/\(secret)x", "/\(secret)har",
      "/\(secret.dropLast())", "//\(secret)",
      "/\(secret)/nothing", "/\(secret)/calls/1", "/\(secret)/calls/", "/\(secret)/calls/x",
      "/\(secret)/calls/99999999999999999999", "/\(secret)/../\(secret)", "/%2e/\(secret)",
      "/\(secret.uppercased())/har",
      "/\(secret)/Page/page.html", "http://127.0.0.1/\(secret)",
    ]
    let expected = try page.send("GET", "/").bytes
    XCTAssert(expected.starts(with: Data("HTTP/1.1 404 ".utf8)))
    for path in paths { XCTAssertEqual(try page.send("GET", path).bytes, expected, path) }
    for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT"] {
      let response = try page.send(method, "/\(secret)/har", ["Origin": page.origin])
      XCTAssertEqual(response.status, 404, method)
    }
  }

  func test_requestsOfOtherPagesAreRejected() throws {
    let page = try inspector()
    for path in ["events", "har", "calls/1"] {
      for fields in [
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
        ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
        ["Origin": "http://localhost:\(page.port)"], ["Origin": "https://127.0.0.1:\(page.port)"],
      ] {
        XCTAssertEqual(try page.get(path, fields).status, 404, "\(path) \(fields)")
      }
    }
    XCTAssertEqual(try page.get("har", ["Sec-Fetch-Site": "same-origin", "Origin": page.origin]).status, 200)
    for path in ["clear", "import"] {
      XCTAssertEqual(try page.post(path, "", [:]).status, 404, "a POST without its Origin")
      XCTAssertEqual(try page.post(path, "", ["Origin": "http://evil.example"]).status, 404)
      XCTAssertEqual(try page.get(path).status, 404)
    }
    XCTAssertEqual(try page.post("clear", "", ["Origin": page.origin]).status, 204)
  }

  func test_thePageIsOnlyADocument_andMayBeOpenedByALink() throws {
    let page = try inspector()
    XCTAssertEqual(try page.get("", ["Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "cross-site"]).status, 200)
    for destination in ["iframe", "frame", "embed", "object", "script", "style", "image", "empty"] {
      XCTAssertEqual(try page.get("", ["Sec-Fetch-Dest": destination]).status, 404, destination)
    }
    XCTAssertEqual(try page.send("GET", "/\(page.secret)/").status, 200)
  }

  func test_everyResponseHasTheFieldsThatKeepItToItself() throws {
    let page = try inspector()
    for path in ["", "har", "nothing", "calls/7"] {
      let head = try page.get(path).head.lowercased()
      for field in [
        "x-frame-options: deny", "referrer-policy: no-referrer", "cross-origin-resource-policy: same-origin",
        "cross-origin-opener-policy: same-origin", "x-content-type-options: nosniff", "cache-control: no-store",
        "content-security-policy: default-src 'none'",
      ] {
        XCTAssert(head.contains(field), "\(path): \(field)")
      }
      XCTAssertFalse(head.contains("access-control"), path)
      XCTAssertFalse(head.contains("set-cookie"), path)
    }
    XCTAssert(try page.get("har").head.contains("Content-Security-Policy: default-src 'none'; sandbox\r\n"))
  }

  func test_onlyTheScriptWithTheNonceOfTheResponseRuns() throws {
    let page = try inspector()
    var nonces: Set<String> = []
    for _ in 0..<10 {
      let response = try page.get("")
      let match = try XCTUnwrap(
        response.head.firstMatch(of: /script-src 'nonce-([0-9a-f]+)'; style-src 'nonce-([0-9a-f]+)';/))
      XCTAssertEqual(match.1, match.2)
      nonces.insert(String(match.1))
      XCTAssert(response.text.contains("<script nonce=\"\(match.1)\">"))
      XCTAssert(response.text.contains("<style nonce=\"\(match.1)\">"))
      XCTAssertFalse(response.text.contains("NONCE"))
      for directive in [
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "connect-src 'self'", "img-src blob: data:",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
      ] {
        XCTAssert(response.head.contains(directive), directive)
      }
    }
    XCTAssertEqual(nonces.count, 10)
  }

  func test_thePageHasNoRemoteResourceAndNoHTMLFromText() throws {
    let text = try inspector().get("").text
    let code = text.replacing(/https?:\/\/127\.0\.0\.1[^\s"']*/, with: "")
    XCTAssertNil(code.firstMatch(of: /https?:\/\//), "no other server")
    for forbidden in [
      "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", " style=", "onclick=",
      "srcdoc", "setTimeout(\"", "localStorage", "document.cookie",
    ] {
      XCTAssertFalse(text.contains(forbidden), forbidden)
    }
  }

  func test_aLargeBodyIsReadOnlyForAnAllowedImport() throws {
    let page = try inspector()
    // The bodies are never sent: a server that waits for them does not respond.
    for (path, fields) in [
      ("/\(page.secret)/clear", ["Origin": page.origin]), ("/\(page.secret)/import", [:]), ("/nothing", [:]),
      ("/\(page.secret)/import", ["Origin": "http://evil.example"]),
    ] {
      XCTAssertEqual(
        try page.send("POST", path, fields.merging(["Content-Length": "1000000"]) { $1 }).status, 413, path)
    }
    let tooLarge = ["Origin": page.origin, "Content-Length": "\((64 << 20) + 1)"]
    XCTAssertEqual(try page.send("POST", "/\(page.secret)/import", tooLarge).status, 413)
  }

  func test_otherProgramsCannotUseUpTheDescriptorsOfTheApp() throws {
    let page = try inspector()
    let idle = try (0..<100).map { _ in try RawClient(port: page.port) }
    let server = page.inspector.server
    XCTAssertTrue(holds { server.connectionCount == 100 })
    XCTAssertEqual(server.openConnectionCount, Inspector.maxConnections)
    idle[99].send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(page.port)\r\n\r\n")
    XCTAssert(idle[99].receive(until: "not found\n").text.hasPrefix("HTTP/1.1 404 "))
    XCTAssertEqual(server.openConnectionCount, 64)
  }

  func test_idleConnectionsKeepNobodyOut_andCloseNoStreamOfThePage() async throws {
    let recorder = Recorder()
    let stub = StubTransport { _ in .json("7") }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub, interceptors: [recorder]))
    let page = try Page(Inspector(recorder))
    let server = page.inspector.server
    let events = try page.events()
    let slow = try RawClient(port: page.port)
    slow.send("GET / HT")
    let idle = try (0..<200).map { _ in try RawClient(port: page.port) }
    XCTAssertTrue(holds { server.connectionCount == 202 })
    for _ in 0..<3 { XCTAssertEqual(try page.get("").status, 200) }
    XCTAssertLessThanOrEqual(server.openConnectionCount, Inspector.maxConnections)
    // The ones that have been idle the longest are closed.
    XCTAssertEqual(slow.receive(until: nil).text, "")
    XCTAssertEqual(idle[0].receive(until: nil).text, "")
    try await network.fetch(.get("/a"))
    XCTAssertFalse(try events.next("calls").isEmpty)
  }

  func test_aStoppedInspectorClosesItsPort() throws {
    let inspector = try Inspector(Recorder())
    let page = try Page(inspector)
    XCTAssertEqual(try page.get("").status, 200)
    inspector.stop()
    inspector.stop()
    XCTAssertThrowsError(try page.get(""))
  }

  func test_aReleasedInspectorClosesItsPort() throws {
    var inspector: Inspector? = try Inspector(Recorder())
    let url = try XCTUnwrap(inspector?.url)
    inspector = nil
    XCTAssertThrowsError(try RawClient(port: UInt16(try XCTUnwrap(url.port))))
  }
}
