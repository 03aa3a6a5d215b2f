import Foundation
import LoopbackServer
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Text becomes a URL in one place: the request line is the same, whoever has written the text (RFC 3986; WHATWG URL).
final class URLTextTests: XCTestCase {
  /// A text behind the origin, the target of the request, and the forms that can't carry it, with the reason.
  private struct Row {
    enum Form: String, CaseIterable { case path, absolute, location, link }

    let text: String
    let target: String
    let except: [Form: Exception]

    enum Exception {
      /// The form has no spelling of this text.
      case noSpelling(String)
      /// The caller's text is rejected with this reason.
      case rejected(String)
    }

    init(_ text: String, _ target: String, except: [Form: Exception] = [:]) {
      (self.text, self.target, self.except) = (text, target, except)
    }
  }

  private static let fragment = Row.Exception.rejected("contains '#'")
  private static let dots = Row.Exception.rejected("contains the component '..'")
  private static let control = Row.Exception.rejected("contains the control character")

  private static let rows: [Row] = [
    // Escapes stay.
    Row("/plain", "/plain"), Row("/%41", "/%41"), Row("/%7Ea", "/%7Ea"), Row("/a%20b", "/a%20b"),
    Row("/%e9", "/%e9"), Row("/a%2Fb", "/a%2Fb"), Row("/%0A", "/%0A"), Row("/a%5bb", "/a%5bb"),
    Row("/?q=100%25", "/?q=100%25"), Row("/?a=%2B+", "/?a=%2B+"), Row("/?a=%C3%BC", "/?a=%C3%BC"),
    // Lone percent signs.
    Row("/%", "/%25"), Row("/%zz", "/%25zz"), Row("/%4z%41", "/%254z%41"), Row("/%a", "/%25a"), Row("/%2", "/%252"),
    Row("/%%41", "/%25%41"),
    Row("/?q=%", "/?q=%25"), Row("/?q=%zz&r=%26", "/?q=%25zz&r=%26"), Row("/50%?q=50%", "/50%25?q=50%25"),
    // Characters that a URL can't contain, next to escapes.
    Row("/a b", "/a%20b"), Row("/a b%2Fc", "/a%20b%2Fc"), Row("/a[1]%2F", "/a%5B1%5D%2F"), Row("/[%2F]", "/%5B%2F%5D"),
    Row("/a{b}%7B", "/a%7Bb%7D%7B"), Row("/a|b%7C", "/a%7Cb%7C"), Row("/a^b%5E", "/a%5Eb%5E"),
    Row("/a`b%60", "/a%60b%60"), Row("/a\"b%22", "/a%22b%22"), Row("/a<b%3C", "/a%3Cb%3C"),
    Row("/a\\b%5C", "/a%5Cb%5C"), Row("/a>b%3E", "/a%3Eb%3E", except: [.link: .noSpelling("> ends the URL")]),
    Row("/?a=b c%26", "/?a=b%20c%26"), Row("/?f[a]=%26", "/?f%5Ba%5D=%26"),
    Row("/?page[cursor]=a%3D%3D", "/?page%5Bcursor%5D=a%3D%3D"), Row("/?f={x}&s=%2F", "/?f=%7Bx%7D&s=%2F"),
    Row("/?a=b|c%7C", "/?a=b%7Cc%7C"), Row("/?a=^%5E", "/?a=%5E%5E"), Row("/?a=`%60", "/?a=%60%60"),
    Row("/?a=\"x\"%22", "/?a=%22x%22%22"), Row("/?a=<x%3C", "/?a=%3Cx%3C"), Row("/?a=b\\c%5C", "/?a=b%5Cc%5C"),
    Row("/?a=b>c%3E", "/?a=b%3Ec%3E", except: [.link: .noSpelling("> ends the URL")]),
    Row("/a b?c=%26", "/a%20b?c=%26"), Row("/a%2F?c d", "/a%2F?c%20d"),
    // Beyond ASCII, in UTF-8.
    Row("/ü", "/%C3%BC"), Row("/ü%26", "/%C3%BC%26"), Row("/中%2F文", "/%E4%B8%AD%2F%E6%96%87"),
    Row("/😀%41", "/%F0%9F%98%80%41"), Row("/e\u{301}%41", "/e%CC%81%41"), Row("/?ü=%26", "/?%C3%BC=%26"),
    Row("/?q=%26ü", "/?q=%26%C3%BC"), Row("/a\u{A0}b%41", "/a%C2%A0b%41"), Row("/ü%26?ü=%26", "/%C3%BC%26?%C3%BC=%26"),
    // Characters with a meaning stay.
    Row("/a;b=c,d", "/a;b=c,d"), Row("/a:b", "/a:b"), Row("/a@b", "/a@b"), Row("/!$&'()*+,;=", "/!$&'()*+,;="),
    Row("/~a_b-c.d", "/~a_b-c.d"), Row("/a//b", "/a//b"), Row("/?a=b?c", "/?a=b?c"), Row("/?a=b/c:@", "/?a=b/c:@"),
    Row("/?a='x'%27", "/?a='x'%27"), Row("/?&a=1&&b", "/?&a=1&&b"), Row("/?", "/?"), Row("/a?", "/a?"),
    // Components that mean a place in the path.
    Row("/a/./b", "/a/b"), Row("/a/%2e/b", "/a/b"), Row("/a/.", "/a/"), Row("/a/.b/..c", "/a/.b/..c"),
    Row("/a/../b", "/b", except: [.path: dots, .absolute: dots]),
    Row("/a/%2E%2e/b", "/b", except: [.path: dots, .absolute: dots]),
    Row("/a/..", "/", except: [.path: dots, .absolute: dots]), Row("/a?b=/../c", "/a?b=/../c"),
    // Fragments are not sent.
    Row("/a#b%23 c", "/a", except: [.path: fragment]), Row("/a?b=%26 #c%zz", "/a?b=%26%20", except: [.path: fragment]),
    Row("/a?b#c#d", "/a?b", except: [.path: fragment]),
    // Control characters, which a caller's text can't contain.
    Row("/a\tb%41", "/a%09b%41", except: [.path: control, .absolute: control]),
    Row("/?a=\t%26", "/?a=%09%26", except: [.path: control, .absolute: control]),
    // Blanks around the text are part of a caller's path, and of no other form.
    Row("/a%41 ", "/a%41", except: [.path: .noSpelling("a value may end with a blank")]),
  ]

  private static func head(of row: Row, _ form: String) -> TestServer.Response {
    switch form {
    case "location": .raw("HTTP/1.1 302 Found", "Location: \(row.text)", "Content-Length: 0")
    case "link": .raw("HTTP/1.1 200 OK", "Link: <\(row.text)>; rel=\"next\"", "Content-Length: 0")
    default: .text("")
    }
  }

  func test_theRequestLineIsTheSame_whoeverWritesTheText() async throws {
    XCTAssertGreaterThan(Self.rows.count, 60)
    let server = try TestServer { request in
      let match = request.path.wholeMatch(of: #/\/from\/(\w+)\/(\d+)/#)
      guard let (_, form, number) = match?.output else { return .text("") }
      return Self.head(of: Self.rows[Int(number) ?? 0], String(form))
    }
    let network = Network(Backend(baseURL: server.url))
    let origin = "http://127.0.0.1:\(server.url.port ?? 0)"
    for (number, row) in Self.rows.enumerated() {
      for form in Row.Form.allCases {
        let place = "\(row.text.debugDescription) as \(form)"
        if case .noSpelling(let reason)? = row.except[form] {
          XCTAssertFalse(reason.isEmpty)
          continue
        }
        do {
          switch form {
          case .path: try await network.fetch(.get(row.text))
          case .absolute: try await network.fetch(.get(origin + row.text))
          case .location: try await network.fetch(.get("/from/location/\(number)"))
          case .link:
            let url = try await network.response(.get("/from/link/\(number)")).links["next"]
            try await network.fetch(.get(try XCTUnwrap(url, place)))
          }
          XCTAssertNil(row.except[form], place)
          // libcurl 8.23 writes the digits of an escape in uppercase (RFC 3986 §6.2.2.1).
          let target = server.requests.last?.target ?? ""
          let upper = row.target.replacing(/%[0-9a-fA-F]{2}/) { $0.output.uppercased() }
          XCTAssertTrue(target == row.target || target == upper, "\(place): \(target)")
        } catch let error as NetworkError {
          guard case .rejected(let reason)? = row.except[form] else { return XCTFail("\(place): \(error)") }
          XCTAssertEqual(error.kind, .invalidRequest, place)
          XCTAssert(error.reason.contains(reason), "\(place): \(error)")
        }
      }
    }
  }

  /// Texts with a host, which no relative path has: the URL of a caller's absolute text, and that of a server's reference.
  func test_theAuthorityStays() throws {
    let base = try XCTUnwrap(URL(string: "http://h/d/e?q#f"))
    for (text, absolute, reference) in [
      ("http://bücher.test/ü%26", "http://xn--bcher-kva.test/%C3%BC%26", "same"),
      ("http://BÜCHER.test/a b%2F", "http://xn--bcher-kva.test/a%20b%2F", "same"),
      ("http://h.test/[%41]", "http://h.test/%5B%41%5D", "same"),
      ("http://[2001:db8::1]:81/a b%2F", "http://[2001:db8::1]:81/a%20b%2F", "same"),
      ("http://[::1]?f[a]=%26", "http://[::1]?f%5Ba%5D=%26", "same"),
      ("HTTP://H.test:80/%7e", "HTTP://H.test:80/%7e", "same"),
      ("http://user:p%40ss@h.test/[%41]", "http://user:p%40ss@h.test/%5B%41%5D", "http://h.test/%5B%41%5D"),
      ("http://üser:p%40ss@h.test/", "http://%C3%BCser:p%40ss@h.test/", "http://h.test/"),
      ("http://us er:p%40[%@h.test/", "http://us%20er:p%40%5B%25@h.test/", "http://h.test/"),
      ("http://a@b@h.test/%41 ", "http://a%40b@h.test/%41", "http://h.test/%41"),
      ("http://h.test/a?b#c%23 d", "http://h.test/a?b#c%23%20d", "same"),
      (" http://h.test/%41 ", "http://h.test/%41", "same"),
      ("http://h.test/a/./b/.", "http://h.test/a/b/", "same"), ("http://h.test/a/%2E", "http://h.test/a/", "same"),
      ("http://h.test/a/b/..?c", nil, "http://h.test/a/?c"), ("http://h.test/a/%2e./b#c", nil, "http://h.test/b#c"),
      ("http://h.test:99999/", nil, "http://h.test:99999/"), ("http://h\\x.test/", nil, nil),
      ("http://h .test/", nil, nil), ("http://[::1/", nil, nil),
      ("//bücher.test/a b%2F", "path", "http://xn--bcher-kva.test/a%20b%2F"),
      ("//u:p@h.test/", "path", "http://h.test/"),
      ("../g?y[z]=%26", "path", "http://h/g?y%5Bz%5D=%26"), ("g;x=1/./y", "path", "http://h/d/g;x=1/y"),
      ("?y z=%26", "path", "http://h/d/e?y%20z=%26"), ("#s t%23", "path", "http://h/d/e?q#s%20t%23"),
      ("1:b%41 c", "path", "http://h/d/1:b%41%20c"), ("ü:b", "path", "http://h/d/%C3%BC:b"),
      (" ", "path", "http://h/d/e?q"), ("/../../%2e%2E/g", "path", "http://h/g"),
    ] as [(String, String?, String?)] {
      if absolute != "path" {
        XCTAssertEqual(try? text.url(below: nil).absoluteString, absolute, text)
      }
      XCTAssertEqual(
        URL(reference: text, from: base)?.absoluteString, reference == "same" ? absolute : reference, text)
    }
  }

  /// The other places where text becomes a URL.
  func test_everyPlaceMakesTheSameURL() async throws {
    let text = "/a b%2F?f[a]=%26&g=%zz"
    let target = "/a%20b%2F?f%5Ba%5D=%26&g=%25zz"
    let server = try TestServer { request in
      switch request.path {
      case "/pages": .json(#"{"items":[1],"next":"\#(text)"}"#)
      case "/moved": .raw("HTTP/1.1 307 Moved", "Location: \(text)", "Content-Length: 0")
      case "/made": .raw("HTTP/1.1 201 Created", "Location: \(text)", "Content-Length: 0")
      default: .json(#"{"items":[]}"#)
      }
    }
    let network = Network(Backend(baseURL: server.url))
    let origin = "http://127.0.0.1:\(server.url.port ?? 0)"
    for try await _ in network.pages(.get("/pages"), of: Int.self, at: "items", by: .link(at: "next")).values {}
    XCTAssertEqual(server.requests.last?.target, target)
    try await network.fetch(.post("/moved", json: ["a": 1]))
    XCTAssertEqual(server.requests.last.map { "\($0.method) \($0.target)" }, "POST \(target)")
    let made = try await network.response(.post("/made")).location
    XCTAssertEqual(made?.absoluteString, origin + target)
    let socket = origin.replacing("http", with: "ws") + text
    try? await network.withWebSocket(.get(socket)) { _ in }
    XCTAssertEqual(server.requests.last?.target, target)
    let list = try JSON(parsing: #"["\#(origin)\#(text)"]"#)
    XCTAssertEqual(try JSONModelDecoder().decode([URL].self, from: list).first?.absoluteString, origin + target)
  }
}
