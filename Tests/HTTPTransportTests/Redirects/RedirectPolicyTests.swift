import Foundation
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class RedirectPolicyTests: XCTestCase {
  private func url(_ text: String) throws -> URL { try XCTUnwrap(URL(string: text)) }

  private func decide(
    _ from: String, _ status: Int, _ location: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:],
    hops: Int = 0, policy: RedirectPolicy = .follow(), redaction: Redaction = .standard
  ) throws -> RedirectPolicy.Decision {
    var request = Request(method: method, url: try url(from), headers: headers, body: .data(Data([1])))
    request.options.redirects = policy
    request.options.redaction = redaction
    return RedirectPolicy.decide(
      original: request, currentRequest: request, status: status, headers: ["Location": location],
      trail: try trail(hops))
  }

  /// Returns a trail of `count` redirects with distinct URLs.
  private func trail(_ count: Int) throws -> RedirectTrail {
    try (0..<count).reduce(RedirectTrail()) { trail, index in
      let url = try url("http://before/\(index)")
      return trail.adding(Response.Redirect(url: url, status: 302))
    }
  }

  private func followed(_ decision: RedirectPolicy.Decision) throws -> Request {
    if case .follow(let next, _) = decision { return next }
    throw NetworkError(kind: .redirect, reason: "not followed: \(decision)")
  }

  func test_relativeLocationsAreResolved() throws {
    for (location, target) in [
      ("/c", "http://h/c"), ("c", "http://h/a/c"), ("//g/c", "http://g/c"), ("?q=1", "http://h/a/b?q=1"),
      ("../c", "http://h/c"), ("https://g/", "https://g/"),
    ] {
      XCTAssertEqual(try followed(decide("http://h/a/b", 302, location)).url.absoluteString, target)
    }
  }

  func test_theUserAndPasswordOfALocationAreDropped() throws {
    for (location, target) in [
      ("http://u:p@g/c", "http://g/c"), ("//u@h/c?q=%2F#f", "http://h/c?q=%2F#f"), ("http://:p@h:81/", "http://h:81/"),
    ] {
      XCTAssertEqual(try followed(decide("http://h/a/b", 302, location)).url.absoluteString, target)
    }
    let own = try followed(decide("http://u:p@h/a", 302, "/c")).url
    XCTAssertEqual(own.absoluteString, "http://u:p@h/c", "those of the caller are kept")
  }

  func test_aRedirectFromHTTPSToHTTPIsRejected() throws {
    guard case .fail(let error) = try decide("https://h/", 302, "http://h/") else { return XCTFail("followed") }
    XCTAssertEqual(error.kind, .redirect)
    XCTAssert(error.reason.contains("https to http"), error.reason)
  }

  func test_aDowngradeIsFollowedIfAllowed() throws {
    _ = try followed(decide("https://h/", 302, "http://h/", policy: .follow(allowsDowngrade: true)))
  }

  func test_aCustomLimitIsApplied() throws {
    _ = try followed(decide("http://h/", 302, "/a", hops: 1, policy: .follow(limit: 2)))
    guard case .fail(let error) = try decide("http://h/", 302, "/a", hops: 2, policy: .follow(limit: 2)) else {
      return XCTFail("followed")
    }
    XCTAssert(error.reason.contains("more than 2"), error.reason)
  }

  func test_aRedirectThatIsNotFollowedIsDelivered() throws {
    let some = RedirectPolicy.custom { step in step.target.path == "/yes" && step.status == 302 && step.count == 3 }
    let cases: [(RedirectPolicy, String, Bool)] = [
      (.none, "/a", false), (.sameOrigin, "/a", true), (.sameOrigin, "http://g/a", false),
      (.sameOrigin, "https://h/a", false), (some, "/yes", true), (some, "/no", false),
    ]
    for (policy, location, isFollowed) in cases {
      let decision = try decide("http://h/", 302, location, hops: 3, policy: policy)
      if case .deliver = decision { XCTAssertFalse(isFollowed, location) } else { _ = try followed(decision) }
    }
  }

  func test_anInvalidTargetIsRejected() throws {
    for location in [
      "http://a%0d%0aX/", "http://a%00b/", "http://h:99999/", "http://*.h/", "http://h%2fevil/", "//a%20b/",
    ] {
      guard case .fail(let error) = try decide("http://h/", 302, location) else {
        XCTFail("followed to \(location)")
        continue
      }
      XCTAssertEqual(error.kind, .redirect)
      XCTAssert(error.reason.contains("http://h/ redirects to \(location.debugDescription)"), error.reason)
    }
  }

  func test_ifNoRedirectIsFollowed_anyLocationIsAccepted() throws {
    for location in ["http://[", "http://a b:c/", "file:///etc/passwd", "", "\u{0}"] {
      guard case .deliver = try decide("http://h/", 302, location, policy: .none) else {
        XCTFail("not delivered: \(location)")
        continue
      }
    }
    guard case .fail(let error) = try decide("http://h/", 302, "http://[", policy: .sameOrigin) else {
      return XCTFail("followed")
    }
    XCTAssertEqual(error.kind, .redirect)
  }

  func test_fieldsMarkedAsSecretAreNotSentToAnotherOrigin() throws {
    let headers: HTTPHeaders = ["X-Tenant": "t", "A": "b"]
    let redaction = Redaction(names: ["x-tenant"])
    let there = try followed(decide("http://h/", 302, "http://g/", headers: headers, redaction: redaction))
    XCTAssertEqual(there.headers, ["A": "b"])
    let here = try followed(decide("http://h/", 302, "/x", headers: headers, redaction: redaction))
    XCTAssertEqual(here.headers, headers)
  }

  func test_fieldsWithSecretNamesAreNotSentToAnotherOrigin() throws {
    let headers: HTTPHeaders = [
      "X-User-Token": "t", "X-Goog-Api-Key": "k", "DPoP": "d", "Idempotency-Key": "i", "X-Keyboard": "b",
    ]
    let there = try followed(decide("http://h/", 302, "http://g/", headers: headers))
    XCTAssertEqual(there.headers, ["Idempotency-Key": "i", "X-Keyboard": "b"])
  }

  func test_aSingleUseBodyIsNotSentAgain() throws {
    var request = Request(method: .put, url: try url("http://h/"))
    for (body, isFollowed) in [
      (Request.BodyStream(once: { nil }), false), (Request.BodyStream(open: { { nil } }), true),
    ] {
      request.body = .stream(body)
      let decision = RedirectPolicy.decide(
        original: request, currentRequest: request, status: 307, headers: ["Location": "/x"], trail: RedirectTrail())
      if case .fail = decision { XCTAssertFalse(isFollowed) } else { _ = try followed(decision) }
    }
  }

  func test_theRedactionOfTheNetworkDefinesTheSecrets() throws {
    let network = Network(Backend(baseURL: try url("https://h"), redaction: .standard.hiding(["X-Tenant"])))
    let stub = StubTransport { _ in .json(#"{"code":200,"message":"","data":1}"#) }
    _ = try network.with { $0.transport = stub }.json(.get, "/a").toBlocking().first()
    XCTAssertEqual(stub.requests.first?.options.redaction.hides("x-tenant"), true)
  }

  func test_anOriginIsSchemeHostAndPort() throws {
    let origin = Origin(try url("http://h/"))
    for same in [
      "http://H:80/x", "HTTP://h./", "http://h", "http://h:80/", "http://user@h/", "http://h?x", "http://h#a/b",
    ] { XCTAssertEqual(Origin(try url(same)), origin, same) }
    for (one, other) in [
      ("http://h:8080/", "http://H:8080/x"), ("https://h:443", "https://h/"), ("http://h:443/", "http://h:0443/"),
    ] {
      XCTAssertEqual(Origin(try url(one)), Origin(try url(other)), one)
      XCTAssertNotEqual(Origin(try url(one)), origin)
    }
    XCTAssertEqual(Origin(try url("http://[::1]/")), Origin(try url("HTTP://[::1]:80")))
    XCTAssertNotEqual(Origin(try url("https://h/")), origin)
    XCTAssertNotEqual(Origin(try url("http://h.evil/")), origin)
  }

  func test_anUpgradeToHTTPSChangesTheOrigin() throws {
    let next = try followed(decide("http://h/", 301, "https://h/", headers: ["Authorization": "x", "A": "b"]))
    XCTAssertNil(next.headers["Authorization"])
    XCTAssertEqual(next.headers["A"], "b")
  }

  func test_statusAndMethodDetermineTheNextMethod() throws {
    let rules: [(Int, HTTPMethod, HTTPMethod)] = [
      (301, .post, .get), (302, .post, .get), (303, .post, .get), (307, .post, .post), (308, .post, .post),
      (301, .put, .put), (302, .delete, .delete), (303, .put, .get), (303, .head, .head), (302, .head, .head),
    ]
    for (status, sent, expected) in rules {
      let next = try followed(decide("http://h/", status, "/x", method: sent, headers: ["Content-Type": "a/b"]))
      XCTAssertEqual(next.method, expected, "\(status) \(sent)")
      XCTAssertEqual(next.headers["Content-Type"], sent == expected ? "a/b" : nil)
      if sent != expected { XCTAssertTrue(next.body.isEmpty) }
    }
  }

  /// RFC 9110 §15.4 and §10.1.1.
  func test_aGetThatWasAPost_hasNoFieldOfTheBody() throws {
    let dropped = [
      "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location", "Digest",
      "Last-Modified", "Content-Digest", "Repr-Digest", "Unencoded-Digest", "Content-MD5", "Content-Range",
      "Content-Disposition", "content-disposition", "CONTENT-ID", "Content-Transfer-Encoding", "Content-Features",
      "ETag",
      "Trailer", "Transfer-Encoding", "Expect",
    ]
    let kept = [
      "Accept", "Accept-Encoding", "If-Match", "If-None-Match", "If-Modified-Since", "Range", "Idempotency-Key",
      "Cache-Control", "Prefer", "TE", "User-Agent", "X-Content-Type", "Contents", "Want-Digest", "Want-Content-Digest",
    ]
    for name in dropped + kept {
      for (status, method, becomesGet) in [
        (301, HTTPMethod.post, true), (302, .post, true), (303, .post, true), (303, .put, true), (303, .patch, true),
        (307, .post, false), (308, .put, false), (302, .put, false),
      ] {
        let next = try followed(decide("http://h/", status, "/x", method: method, headers: [name: "v"]))
        XCTAssertEqual(
          next.headers[name], becomesGet && dropped.contains(name) ? nil : "v", "\(name) \(status) \(method)")
      }
    }
  }

  func test_aPolicyMayKeepTheMethodOn301And302() throws {
    let policy = RedirectPolicy.follow(keepsMethod: true)
    for (status, expected) in [(301, HTTPMethod.post), (302, .post), (303, .get), (307, .post)] {
      let next = try followed(
        decide("http://h/", status, "/x", method: .post, headers: ["Content-Type": "a/b"], policy: policy))
      XCTAssertEqual(next.method, expected, "\(status)")
      XCTAssertEqual(next.headers["Content-Type"], expected == .post ? "a/b" : nil, "\(status)")
      XCTAssertEqual(next.body.isEmpty, expected == .get, "\(status)")
    }
  }

  func test_aLocationWithoutAFragmentInheritsTheFragmentOfTheURL() throws {
    for (from, location, target) in [
      ("http://h/a#orig", "/c", "http://h/c#orig"), ("http://h/a#orig", "/c#own", "http://h/c#own"),
      ("http://h/a#orig", "/c#", "http://h/c#"), ("http://h/a#orig", "?q=1", "http://h/a?q=1#orig"),
      ("http://h/a#a%20b/?c", "http://g", "http://g#a%20b/?c"), ("http://h/a", "/c", "http://h/c"),
    ] {
      XCTAssertEqual(try followed(decide(from, 302, location)).url.absoluteString, target, "\(from) to \(location)")
    }
  }

  func test_aRepeatedRequestIsFollowedUntilTheLimit() throws {
    let own = try url("http://h/a#1")
    for location in ["", "/a", "#1", "/a#2", "http://h/a", "?", "./a"] {
      for (method, status) in [(HTTPMethod.get, 302), (.post, 307), (.put, 308), (.post, 303)] {
        var request = Request(method: method, url: own)
        var trail = RedirectTrail()
        for _ in 0..<10 {
          let decision = RedirectPolicy.decide(
            original: request, currentRequest: request, status: status, headers: ["Location": location], trail: trail)
          guard case .follow(let next, let longer) = decision else {
            return XCTFail("\(location.debugDescription) \(status): \(decision)")
          }
          (request, trail) = (next, longer)
        }
        let last = RedirectPolicy.decide(
          original: request, currentRequest: request, status: status, headers: ["Location": location], trail: trail)
        guard case .fail(let error) = last else { return XCTFail("followed to \(location)") }
        XCTAssertEqual(error.kind, .redirect, location)
        XCTAssert(error.reason.contains("more than 10 redirects"), error.reason)
        XCTAssert(error.reason.contains("redirect loop"), error.reason)
        XCTAssertEqual(error.response?.redirects.count, 10, location)
      }
    }
  }

  func test_anEmptyReferenceIsTheURLItself() throws {
    for (from, target) in [
      ("http://h/a", "http://h/a"), ("http://h/a/b?c=1", "http://h/a/b?c=1"), ("http://h/a#f", "http://h/a#f"),
      ("https://u:p@h:8/a", "https://u:p@h:8/a"), ("http://h", "http://h"),
    ] {
      for reference in ["", " ", "\t"] {
        for (method, status) in [(HTTPMethod.post, 303), (.put, 303), (.post, 302), (.get, 307)] {
          let next = try followed(decide(from, status, reference, method: method))
          XCTAssertEqual(next.url.absoluteString, target, from)
          XCTAssertEqual(next.method, .get, from)
        }
        let plain = try url(from).absoluteString.prefix { $0 != "#" }
        XCTAssertEqual(URL(reference: reference, from: try url(from))?.absoluteString, String(plain), from)
        let created = Response(
          request: Request(url: try url(from)), status: 201, headers: ["Location": reference, "Link": "<>; rel=self"])
        XCTAssertEqual(created.location?.absoluteString, String(plain), from)
        XCTAssertEqual(created.links["self"]?.absoluteString, String(plain), from)
      }
    }
  }

  func test_otherStatusesAreDelivered() throws {
    for status in [200, 300, 304, 305, 306, 400] {
      guard case .deliver = try decide("http://h/", status, "/x") else { return XCTFail("\(status)") }
    }
  }

  func test_theEleventhRedirectIsRejected() throws {
    guard case .fail = try decide("http://h/", 302, "/x", hops: 10) else { return XCTFail("followed") }
    _ = try followed(decide("http://h/", 302, "/x", hops: 9))
  }

  func test_headersAndSignatureOfABackendAreNotSentToAnotherOrigin() async throws {
    struct Stamp: Signer {
      func sign(_ content: ContentToSign) throws -> RequestSignature { RequestSignature(headers: ["X-Stamp": "s"]) }
    }
    let builder = RequestBuilder(
      baseURL: try url("https://h"), headers: ["X-Tuchong": "t", "User-Agent": "app"], signer: Stamp())
    let call = CallContent(.get, "/a", parameters: nil, encoding: .url, headers: ["X-Caller": "c"])
    let built = try builder.request(for: call)
    let request = try await XCTUnwrap(built.context[Signing.self]).sign(built)
    func names(after location: String) throws -> [String] {
      try followed(
        RedirectPolicy.decide(
          original: request, currentRequest: request, status: 302, headers: ["Location": location],
          trail: RedirectTrail())
      ).headers.map(\.name).sorted()
    }
    XCTAssertEqual(try names(after: "/b"), ["User-Agent", "X-Caller", "X-Stamp", "X-Tuchong"])
    XCTAssertEqual(try names(after: "https://evil/b"), ["User-Agent", "X-Caller"])
  }

  func test_headersWithSecretNamesAreNotSentToAnotherOrigin() throws {
    let headers: HTTPHeaders = ["X-Api-Key": "a", "access-token": "b", "X-Signature": "c", "Accept": "d"]
    let request = Request(url: try XCTUnwrap(URL(string: "https://h/a")), headers: headers)
    for (location, count) in [("https://h/b", 4), ("https://evil/b", 1)] {
      let decision = RedirectPolicy.decide(
        original: request, currentRequest: request, status: 302, headers: ["Location": location],
        trail: RedirectTrail())
      guard case .follow(let next, _) = decision else { return XCTFail("not followed") }
      XCTAssertEqual(next.headers.count, count)
    }
  }
}
