import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// No part of an error shows a user and a password that a caller, a server or a library has written into a URL.
final class SecretsInErrorsTests: XCTestCase {
  /// A writer of a text with the password `s3cret`, and the error that quotes the text.
  private typealias Row = (writer: String, error: @Sendable () throws -> NetworkError)

  private static func thrown(_ body: () throws -> Void) throws -> NetworkError {
    do {
      try body()
    } catch {
      return NetworkError.wrapping(error)
    }
    throw NetworkError(kind: .other, reason: "there was no error")
  }

  private static func redirect(from: String, to location: String, limit: Int = 10) throws -> NetworkError {
    var request = Request(url: try XCTUnwrap(URL(string: from)))
    request.options.redirects = .follow(limit: limit)
    let decision = RedirectPolicy.decide(
      original: request, currentRequest: request, status: 302, headers: ["Location": location], trail: RedirectTrail())
    guard case .fail(let error) = decision else { throw NetworkError(kind: .other, reason: "it was followed") }
    return error
  }

  private static let texts = [
    "http://user:s3cret@h:99999/", "ftp://user:s3cret@h/", "http://user:s3cret@h\\x/", "http://user:s3cret@h/\u{1}",
    "http://user:s3cret@h/../x", "http://user:s3cret@/x", "http://user:s3cret@[::1/", "http://us er:s3cret@h h/",
    "http://user:p@s3cret@h:0/",
  ]

  private static let rows: [Row] = [
    ("a caller, as a URL", { try thrown { _ = try XCTUnwrap(URL(string: "ftp://user:s3cret@h/")).url(below: nil) } }),
    ("a caller, beside a path", { try thrown { _ = try "//user:s3cret@h/../x".url(below: URL(string: "http://h")) } }),
    (
      "a caller of a transport",
      {
        let url = try XCTUnwrap(URL(string: "http://user:s3cret@h:99999/"))
        return try XCTUnwrap(RequestCheck.failure(of: Request(url: url), url: url.absoluteString))
      }
    ),
    ("a Location of another scheme", { try redirect(from: "http://h/", to: "ftp://user:s3cret@h/") }),
    ("a Location with an invalid port", { try redirect(from: "http://h/", to: "http://user:s3cret@h:99999/") }),
    ("a Location that is not a URL", { try redirect(from: "http://h/", to: "//user:s3cret@[::1/") }),
    ("a Location from https to http", { try redirect(from: "https://h/", to: "http://user:s3cret@h/") }),
    ("a Location too many", { try redirect(from: "http://user:s3cret@h/", to: "//user:s3cret@h/", limit: 0) }),
    (
      "a link of a page",
      {
        let call = PagedCall<Int>(CallContent(.get, "/"), .link, nil)
        return try thrown { _ = try call.call(at: "http://user:s3cret@[h/") }
      }
    ),
    (
      "another library, in the text of its error",
      {
        struct Failed: Error, CustomStringConvertible { let description = "no proxy http://user:s3cret@h:1" }
        return NetworkError.wrapping(Failed())
      }
    ),
    (
      "an app, in a changed reason",
      {
        var error = NetworkError(kind: .other, reason: "")
        error.reason = "GET http://user:s3cret@h/ failed"
        return error
      }
    ),
  ]

  func test_noReasonHasTheUserOfAURL() throws {
    let callers = Self.texts.map { text -> Row in
      ("a caller: \(text)", { try Self.thrown { _ = try text.url(below: nil) } })
    }
    for row in callers + Self.rows {
      let error = try row.error()
      XCTAssertNotEqual(error.reason, "there was no error", row.writer)
      var info = ""
      dump((error as NSError).userInfo.filter { $0.key != NSUnderlyingErrorKey }, to: &info)
      for text in [error.reason, error.failureReason ?? "", "\(error)", error.message, info] {
        XCTAssertFalse(text.contains("s3cret"), "\(row.writer): \(text)")
      }
      XCTAssert(error.reason.contains("***@"), "\(row.writer): \(error.reason)")
    }
  }

  func test_otherTextsWithAnAtSignStay() {
    for text in [
      "mail a@b.example", "http://h/@x?mail=a@b", "the user ann@shop can't sign in", "GET http://h failed for ann@shop",
      "\"http://h/\" of ann@shop",
    ] {
      XCTAssertEqual(NetworkError(kind: .other, reason: text).reason, text)
    }
  }

  #if HAS_URLSESSION
    func test_anErrorOfASessionHasNoUserOfAURL() throws {
      let url = try XCTUnwrap(URL(string: "http://user:s3cret@h/?mail=a@b"))
      let info: [String: Any] = [
        NSLocalizedDescriptionKey: "could not load \(url)", NSURLErrorFailingURLErrorKey: url,
        "text": url.absoluteString, NSUnderlyingErrorKey: URLError(.unknown),
      ]
      let error = SessionFailure.error(URLError(.cannotConnectToHost, userInfo: info), request: Request(url: url))
      var dumped = ""
      dump((error.underlying as? URLError)?.userInfo, to: &dumped)
      XCTAssertFalse(dumped.contains("s3cret"), dumped)
      XCTAssertEqual(
        (error.underlying as? URLError)?.userInfo["text"] as? String,
        "http://***@h/?mail=a@b")
      XCTAssertEqual((error.underlying as? URLError)?.code, .cannotConnectToHost)
      let plain = URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "http://h/"])
      XCTAssertEqual(SessionFailure.withoutCredentials(plain) as? URLError, plain)
    }
  #endif
}
