import Foundation
import LoopbackServer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Reports about redirects, and about references to URLs in responses.
final class ReportedRedirectTests: XCTestCase {
  func test_cookiesOfARedirect_replaceThoseOfTheCaller() async {
    await [
      ReportedCase("golang/go#17494", "a login that redirects to itself", "200 in, Cookie: sid=new") {
        let server = try ReportedServer(jar: CookieJar()) { request, _ in
          request.header("Cookie") == "sid=new"
            ? .text("in") : .redirect(to: "/login").header("Set-Cookie", "sid=new")
        }
        let result = await server.result(.get("/login").header("Cookie", "sid=old"))
        return "\(result), \(server.fields("Cookie"))"
      },
      ReportedCase("golang/go#17494", "a cookie of another name", "Cookie: theme=dark; sid=new") {
        let server = try ReportedServer(jar: CookieJar()) { request, _ in
          request.path == "/end" ? .text("ok") : .redirect(to: "/end").header("Set-Cookie", "sid=new")
        }
        _ = await server.result(.get("/").header("Cookie", "theme=dark"))
        return server.fields("Cookie")
      },
      ReportedCase("AHC-java#916", "a cookie and a redirect to the same URL", "200 ok") {
        try await ReportedServer(jar: CookieJar()) { request, _ in
          request.header("Cookie") == nil ? .redirect(to: "/").header("Set-Cookie", "a=b") : .text("ok")
        }.result()
      },
    ].check()
  }

  func test_aGETBehindAPOST_hasNoFieldOfTheBody() async {
    await ["Digest", "Content-MD5", "Content-Range", "Content-Disposition", "Repr-Digest"].map { name in
      ReportedCase("golang/go#57273, corefx#7440", name, "GET ") {
        let server = try ReportedServer { request, _ in
          request.path == "/end" ? .text("ok") : .redirect(to: "/end", status: 303)
        }
        _ = await server.result(Call(.post, "/", task: .data(Data("x".utf8))).header(name, "x"))
        return "\(server.server.requests.last?.method ?? "") \(server.fields(name))"
      }
    }.check()
  }

  func test_loopsThatEnd_areFollowed() async {
    let report = "reqwest#717, httpx#801, jsoup#737"
    await [
      ReportedCase(report, "302 to itself once", "200 ok") {
        try await ReportedServer { _, number in number == 1 ? .redirect(to: "/") : .text("ok") }.result()
      },
      ReportedCase(report, "A, B, A", "200 ok GET /a GET /b GET /a") {
        let server = try ReportedServer { request, number in
          number == 3 ? .text("ok") : .redirect(to: request.path == "/a" ? "/b" : "/a")
        }
        return "\(await server.result(.get("/a"))) \(server.requests.joined(separator: " "))"
      },
      ReportedCase(report, "the same with a jar", "200 ok") {
        try await ReportedServer(jar: CookieJar()) { request, number in
          number == 3 ? .text("ok") : .redirect(to: request.path == "/a" ? "/b" : "/a")
        }.result(.get("/a"))
      },
      ReportedCase(report, "another fragment", "200 ok") {
        try await ReportedServer { _, number in number == 1 ? .redirect(to: "/#b") : .text("ok") }.result()
      },
      ReportedCase("jsoup#737", "endless", "redirect -1212, 11 requests") {
        let server = try ReportedServer { _, _ in .redirect(to: "/") }
        return "\(await server.result()), \(server.requests.count) requests"
      },
    ].check()
  }

  func test_anEmptyReference_isTheSameURL() async {
    @Sendable func followed(_ method: HTTPMethod, _ location: String) async throws -> String {
      let server = try ReportedServer { _, number in
        number == 1 ? .redirect(to: location, status: 303) : .text("ok")
      }
      let result = await server.result(Call(method, "/x", task: .data(Data("x".utf8))))
      return "\(result) \(server.requests.last ?? "")"
    }
    await [
      ReportedCase("jsoup#737", "POST, 303, empty", "200 ok GET /x") { try await followed(.post, "") },
      ReportedCase("jsoup#737", "PUT, 303, empty", "200 ok GET /x") { try await followed(.put, "") },
      ReportedCase("jsoup#737", "one blank", "200 ok GET /x") { try await followed(.post, " ") },
      ReportedCase("jsoup#737", "201 with an empty Location", "/x") {
        let server = try ReportedServer { _, _ in TestServer.Response(status: 201).header("Location", "") }
        return try await server.network.response(.post("/x", json: 1)).location?.path ?? "none"
      },
    ].check()
  }

  func test_rawBytesInALocation_areEscaped() async {
    @Sendable func followed(_ bytes: [UInt8]) async throws -> String {
      let server = try ReportedServer { _, number in
        let head =
          Array("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + bytes + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
        return number == 1 ? .init(body: .raw([.init(head)])) : .text("ok")
      }
      return "\(await server.result()) \(server.requests.last ?? "")"
    }
    let report = "requests#3888, corefx#35103, wreq-js#218"
    await [
      ReportedCase(report, "UTF-8", "200 ok GET /caf%C3%A9") { try await followed([0xC3, 0xA9]) },
      ReportedCase(report, "Latin-1", "200 ok GET /caf%C3%A9") { try await followed([0xE9]) },
    ].check()
  }

  func test_linkFields() async {
    @Sendable func links(_ fields: String...) async throws -> String {
      let server = try ReportedServer { _, _ in
        fields.reduce(.text("ok")) { $0.header("Link", $1) }
      }
      let links = try await server.network.response(.get("/")).links
      return links.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.absoluteString)" }.joined(separator: " ")
    }
    await [
      ReportedCase("guzzle#411, requests#2707", "commas and dates in quotes", "next=http://h/2 prev=http://h/0") {
        try await links(
          #"<http://h/2>; rel="next"; title="a, b; c", <http://h/0>; since="Mon, 06 Nov 1994"; rel="prev""#)
      },
      ReportedCase("PowerShell#5257, ronkyuu#13", "two fields, rel without quotes", "next=http://h/2 prev=http://h/0") {
        try await links("<http://h/2>; rel=next", "<http://h/0>;rel=prev")
      },
    ].check()
  }
}
