import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport

/// The `Cookie` field after a redirect: the caller's pairs without those that a redirect has set, and those of the jar.
final class CookieRedirectTests: XCTestCase {
  private struct Case {
    var own: [String]
    /// Set before the call.
    var stored: [String] = []
    /// The target and the `Set-Cookie` fields of each redirect.
    var redirects: [(String, [String])]
    /// The fields of all requests.
    var sent: [String?]
  }

  private func sent(_ test: Case, hasJar: Bool = true) throws -> [String?] {
    let jar = CookieJar()
    let first = try XCTUnwrap(URL(string: "https://h.com/a/b"))
    jar.store(HTTPHeaders(test.stored.map { .init(name: "Set-Cookie", value: $0) }), from: first)
    var request = Request(url: first, headers: HTTPHeaders(test.own.map { .init(name: "Cookie", value: $0) }))
    if hasJar { request.options.cookies = jar }
    let original = request
    var trail = RedirectTrail()
    var sent: [String?] = []
    func note() {
      let fields = request.headers.values(of: "Cookie") + (request.jarCookies.map { [$0] } ?? [])
      sent.append(fields.isEmpty ? nil : fields.joined(separator: " | "))
    }
    note()
    for (target, fields) in test.redirects {
      var headers = HTTPHeaders(fields.map { .init(name: "Set-Cookie", value: $0) })
      headers.append("Location", target)
      if hasJar { jar.store(headers, from: request.url) }
      guard
        case .follow(let next, let after) = RedirectPolicy.decide(
          original: original, currentRequest: request, status: 302, headers: headers, trail: trail)
      else { return sent + ["not followed"] }
      (request, trail) = (next, after)
      note()
    }
    return sent
  }

  func test_callersPairsAndTheJar_areCombined() throws {
    let cases: [Case] = [
      Case(own: ["sid=old"], redirects: [("/a/b", ["sid=new; Path=/"])], sent: ["sid=old", "sid=new"]),
      Case(
        own: ["theme=dark"], redirects: [("/end", ["sid=new; Path=/"])], sent: ["theme=dark", "theme=dark; sid=new"]),
      Case(
        own: ["sid=old; theme=dark"], redirects: [("/", ["sid=; Max-Age=0; Path=/"])],
        sent: ["sid=old; theme=dark", "theme=dark"]),
      Case(
        own: ["sid=old"], redirects: [("/", ["sid=; Expires=Thu, 01 Jan 1970 00:00:00GMT"])], sent: ["sid=old", nil]),
      Case(own: ["a=1;b=2 ; c"], redirects: [("/", ["b=3; Path=/"])], sent: ["a=1;b=2 ; c", "a=1; c; b=3"]),
      Case(own: ["a=1", "b=2"], redirects: [("/", ["c=3; Path=/"])], sent: ["a=1 | b=2", "a=1; b=2; c=3"]),
      Case(own: ["a=1; a=2; b=3"], redirects: [("/", ["a=4; Path=/"])], sent: ["a=1; a=2; b=3", "b=3; a=4"]),
      Case(own: ["A=1"], redirects: [("/", ["a=2; Path=/"])], sent: ["A=1", "A=1; a=2"]),
      Case(own: ["sid=old"], redirects: [("/", ["sid=x; Domain=other.com"])], sent: ["sid=old", "sid=old"]),
      Case(own: ["sid=old"], redirects: [("/", ["sid=x; Path=/elsewhere"])], sent: ["sid=old", nil]),
      Case(own: ["a=1"], stored: ["b=2; Path=/"], redirects: [("/", [])], sent: ["a=1", "a=1; b=2"]),
      Case(own: ["a=1"], stored: ["a=0; Path=/", "b=2; Path=/"], redirects: [("/", [])], sent: ["a=1", "a=1; b=2"]),
      Case(
        own: ["a=1"], stored: ["b=2; Path=/a"], redirects: [("/a/c", []), ("/d", [])], sent: ["a=1", "a=1; b=2", "a=1"]),
      Case(
        own: ["a=1; b=1"],
        redirects: [("/x", ["a=2; Path=/"]), ("/y", ["b=2; Path=/"]), ("/z", ["a=; Max-Age=0; Path=/"])],
        sent: ["a=1; b=1", "b=1; a=2", "a=2; b=2", "b=2"]),
      Case(
        own: ["a=1"], stored: ["b=2; Path=/; Domain=h.com"],
        redirects: [("https://x.h.com/", []), ("https://h.com/", [])],
        sent: ["a=1", "b=2", "b=2"]),
      Case(
        own: ["a=1"], stored: ["b=2; Path=/; Domain=h.com"], redirects: [("/x", []), ("https://x.h.com/", [])],
        sent: ["a=1", "a=1; b=2", "b=2"]),
      Case(own: [], redirects: [("/", ["a=1; Path=/"])], sent: [nil, "a=1"]),
    ]
    for test in cases { XCTAssertEqual(try sent(test), test.sent, "\(test.own) \(test.redirects)") }
  }

  func test_withoutAJar_theCallersFieldStays() throws {
    let test = Case(
      own: ["a=1; b=2"], redirects: [("/x", ["a=3"]), ("https://g.com/", [])], sent: ["a=1; b=2", "a=1; b=2", nil])
    XCTAssertEqual(try sent(test, hasJar: false), test.sent)
  }
}
