import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The challenges of servers (RFC 9110 §11), and the responses to Digest (RFC 7616) and Basic (RFC 7617).
final class ChallengeTests: XCTestCase {
  private func parsed(_ fields: String...) -> [String] {
    Challenge.all(in: HTTPHeaders(fields.map { HTTPHeaders.Field(name: "WWW-Authenticate", value: $0) })).map {
      "\($0.scheme) " + $0.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "|")
    }
  }

  func test_fields_areSplitIntoChallenges() {
    let rows: [(String, [String])] = [
      (#"Basic realm="a, b""#, ["basic realm=a, b"]), ("Negotiate", ["negotiate "]),
      (#"Digest realm="x", nonce="n=", Basic realm="y""#, ["digest nonce=n=|realm=x", "basic realm=y"]),
      (#"digest REALM = "x" , Nonce=abc"#, ["digest nonce=abc|realm=x"]),
      (
        #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
        [#"newauth realm=apps|title=Login to "apps"|type=1"#, "basic realm=simple"]
      ),
      (#"Digest realm="a", realm="b""#, ["digest realm=a"]), (",,, ,", []), ("", []), ("=", []), (#"realm="x""#, []),
      (#"Digest realm="unterminated, nonce=n"#, ["digest realm=unterminated, nonce=n"]),
      ("Bearer , , Basic realm=", ["bearer ", "basic realm="]),
    ]
    for (field, challenges) in rows { XCTAssertEqual(parsed(field), challenges, field) }
    XCTAssertEqual(parsed("Basic realm=a", "Digest nonce=b"), ["basic realm=a", "digest nonce=b"])
    XCTAssertEqual(parsed("NTLM TlRMTVNTUAAB==, Basic").map { $0.prefix(5) }, ["ntlm ", "basic"])
  }

  private func digest(_ field: String) -> DigestCredentials? {
    DigestCredentials.best(of: Challenge.all(in: ["WWW-Authenticate": field]))
  }

  private func response(_ field: String?) -> String? {
    field.flatMap { Challenge.parameters(of: String($0.dropFirst(7)))["response"] }
  }

  func test_rfc7616_examples() {
    let fields =
      #"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
      + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
    for (algorithm, expected) in [
      ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
      ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ] {
      var digest = digest("Digest \(fields), algorithm=\(algorithm)")
      let field = digest?.authorization(
        user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
        cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
      XCTAssertEqual(response(field), expected)
      XCTAssertTrue(field?.contains("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"") == true)
      XCTAssertTrue(field?.contains("qop=auth, nc=00000001") == true)
    }
  }

  func test_rfc2617_example_andCount() {
    var digest = digest(
      #"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5c""#
    )
    func next() -> String? {
      digest?.authorization(
        user: "Mufasa", password: "Circle Of Life", method: "GET", target: "/dir/index.html", cnonce: "0a4f113b")
    }
    XCTAssertEqual(response(next()), "6629fae49393a05397450978507c4ef1")
    XCTAssertTrue(next()?.contains("nc=00000002") == true)
    digest?.renew("fresh")
    let renewed = next()
    XCTAssertTrue(
      renewed?.contains("nonce=\"fresh\"") == true && renewed?.contains("nc=00000001") == true, renewed ?? "")
  }

  func test_strongestSupportedChallenge_isChosen() {
    let md5 = #"Digest realm="r", nonce="md5", qop=auth"#
    let sha = #"Digest realm="r", nonce="sha", qop=auth, algorithm=SHA-256"#
    XCTAssertEqual(digest("\(md5), \(sha), Basic realm=r")?.nonce, "sha")
    XCTAssertEqual(digest(md5)?.nonce, "md5")
    for unsupported in [
      #"Digest realm="r", nonce="n", algorithm=SHA-512-256"#, #"Digest realm="r", nonce="n", qop="auth-int""#,
      #"Digest nonce="n""#, #"Digest realm="r""#, "Basic realm=r", "",
    ] { XCTAssertNil(digest(unsupported), unsupported) }
  }

  func test_userName_isHashedOrEscaped() {
    var hashed = digest(#"Digest realm="r", nonce="n", qop=auth, userhash=true, algorithm=SHA-256"#)
    func field(_ digest: inout DigestCredentials?, _ user: String) -> String {
      digest?.authorization(user: user, password: "p", method: "GET", target: "/", cnonce: "c") ?? ""
    }
    let text = field(&hashed, "Jäsøn")
    XCTAssertTrue(text.contains("username=\"\(Hash.hex(Hash.sha256(Data("Jäsøn:r".utf8))))\""), text)
    XCTAssertTrue(text.hasSuffix("userhash=true"), text)
    var plain = digest(#"Digest realm="r\"x", nonce="n""#)
    XCTAssertTrue(field(&plain, "Jä\"").contains("username*=UTF-8''J%C3%A4%22"))
    let quoted = field(&plain, "a\"\\b")
    XCTAssertTrue(quoted.hasPrefix(#"Digest username="a\"\\b", realm="r\"x", nonce="n", uri="/", response="#), quoted)
    XCTAssertFalse(quoted.contains("qop"), "RFC 2069 has none")
  }

  private func server(
    scheme: @escaping @Sendable (String, Bool) -> String = {
      #"Digest realm="r", qop=auth, nonce="\#($0)", algorithm=SHA-256\#($1 ? ", stale=true" : "")"#
    }, nonce: Box<String> = Box("n1"), extra: HTTPHeaders = [:]
  ) -> VirtualNetwork {
    VirtualNetwork { request in
      let field = request.headers["Authorization"] ?? ""
      let sent = Challenge.parameters(of: String(field.dropFirst(7)))
      let target = sent["uri"] ?? ""
      func hex(_ text: String) -> String { Hash.hex(Hash.sha256(Data(text.utf8))) }
      let subject = hex("\(request.method):\(target)")
      let expected = hex(
        "\(hex("ada:r:secret")):\(nonce.value):\(sent["nc"] ?? ""):\(sent["cnonce"] ?? ""):auth:\(subject)")
      let isGood = field == "Basic YWRhOnNlY3JldA==" || sent["response"] == expected
      if isGood { return .response(headers: extra, body: Data("ok \(sent["nc"] ?? "") \(target)".utf8)) }
      let isStale = sent["nonce"].map { $0 != nonce.value } ?? false
      return .response(status: 401, headers: ["WWW-Authenticate": scheme(nonce.value, isStale)], body: Data("who".utf8))
    }
  }

  private func interceptor(_ password: String = "secret", basic: Bool = false) -> ChallengeInterceptor {
    ChallengeInterceptor(
      for: [URL(string: "http://h")].compactMap { $0 }, user: "ada", password: password, allowsBasicWithoutTLS: basic
    ) { "c" }
  }

  private func get(_ virtual: VirtualNetwork, _ network: Network, _ path: String) -> String {
    virtual.note("", network.responses(.get, path))
    virtual.scheduler.start()
    return virtual.notes.all.last ?? ""
  }

  func test_digest_isSentAfterTheChallenge_andFromTheStartAfterwards() {
    let virtual = server()
    let network = virtual.network(interceptor())
    XCTAssertEqual(get(virtual, network, "/a?b=%20c"), "200 ok 00000001 /a?b=%20c @0")
    XCTAssertEqual(get(virtual, network, "/"), "200 ok 00000002 / @0")
    XCTAssertEqual(virtual.stub.requests.count, 3)
  }

  func test_staleNonce_isReplacedOnce() {
    let nonce = Box("n1")
    let virtual = server(nonce: nonce)
    let network = virtual.network(interceptor())
    _ = get(virtual, network, "/")
    nonce.value = "n2"
    XCTAssertEqual(get(virtual, network, "/"), "200 ok 00000001 / @0")
    XCTAssertEqual(virtual.stub.requests.count, 4)
  }

  func test_nextNonce_savesTheRoundTrip() {
    let nonce = Box("n1")
    let virtual = server(nonce: nonce, extra: ["Authentication-Info": #"nextnonce="n2", qop=auth"#])
    let network = virtual.network(interceptor())
    _ = get(virtual, network, "/")
    nonce.value = "n2"
    XCTAssertEqual(get(virtual, network, "/"), "200 ok 00000001 / @0")
    XCTAssertEqual(virtual.stub.requests.count, 3)
  }

  func test_wrongPassword_isTriedOncePerCall() {
    let virtual = server()
    let network = virtual.network(interceptor("wrong"))
    for calls in 1...3 {
      XCTAssertEqual(get(virtual, network, "/"), "401 who @0")
      XCTAssertEqual(virtual.stub.requests.count, 2 * calls)
      XCTAssertEqual(virtual.stub.requests.count { $0.headers["Authorization"] != nil }, calls)
    }
  }

  func test_serverThatAlwaysSendsNewNonces_endsTheCall() {
    let count = Counter()
    let virtual = VirtualNetwork { _ in
      .response(
        status: 401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="\#(count.next())", stale=true"#],
        body: Data())
    }
    XCTAssertEqual(get(virtual, virtual.network(interceptor()), "/"), "401  @0")
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_basic_isNotSentForAUserWithAColon() {
    let virtual = server(scheme: { _, _ in "Basic realm=\"r\"" })
    let interceptor = ChallengeInterceptor(
      for: [URL(string: "http://h")].compactMap { $0 }, user: "ada:love", password: "lace", allowsBasicWithoutTLS: true)
    let reasons = Notes()
    _ = virtual.network(interceptor).responses(.get, "/").subscribe(
      onNext: { reasons.add("\($0.status)") }, onError: { reasons.add(NetworkError.wrapping($0).reason) })
    virtual.scheduler.start()
    XCTAssertEqual(
      reasons.all,
      [
        "h:80 asks for Basic, whose user names have no colon (RFC 7617 section 2): the server would read \"ada:love\" as a "
          + "shorter name and another password; use a name without a colon"
      ])
    XCTAssertFalse(virtual.stub.requests.contains { $0.headers["Authorization"] != nil })
  }

  func test_basic_isSentWithoutTLSOnlyIfAllowed() {
    let basic: @Sendable (String, Bool) -> String = { _, _ in "Basic realm=\"r\"" }
    let refused = server(scheme: basic)
    XCTAssertEqual(get(refused, refused.network(interceptor()), "/"), "authentication @0")
    XCTAssertFalse(refused.stub.requests.contains { $0.headers["Authorization"] != nil })
    let allowed = server(scheme: basic)
    let network = allowed.network(interceptor(basic: true))
    XCTAssertEqual(get(allowed, network, "/"), "200 ok   @0")
    XCTAssertEqual(get(allowed, network, "/"), "200 ok   @0")
    XCTAssertEqual(allowed.stub.requests.count, 3)
    let wrong = server(scheme: basic)
    XCTAssertEqual(get(wrong, wrong.network(interceptor("no", basic: true)), "/"), "401 who @0")
    XCTAssertEqual(wrong.stub.requests.count, 2)
  }

  func test_unsupportedDigest_isNamed() throws {
    let virtual = server { _, _ in #"Digest realm="r", nonce="n", qop="auth-int""# }
    let recorded = Box<NetworkError?>(nil)
    _ = virtual.network(interceptor()).responses(.get, "/").subscribe(onError: { error in
      recorded.value = NetworkError.wrapping(error)
    })
    virtual.scheduler.start()
    let error = try XCTUnwrap(recorded.value)
    XCTAssertEqual(error.kind, .authentication)
    XCTAssertTrue(error.reason.contains("auth-int") && error.reason.contains("SHA-256"), error.reason)
    XCTAssertEqual(error.response?.status, 401)
  }

  /// Over http, one packet of a stranger could otherwise make every later request invalid.
  func test_challengeThatCantBeSentBack_endsOneCallOnly() throws {
    let good = #"Digest realm="r", qop=auth, nonce="n1", algorithm=SHA-256"#
    for bad in [
      good.replacing("\"r\"", with: "\"a\u{1}b\""), good.replacing("n1", with: "n\u{7F}1"),
      good + ", opaque=\"\u{1B}\"", good.replacing("\"r\"", with: "\"\(String(repeating: "r", count: 70_000))\""),
      good + ", opaque=\"\(String(repeating: "o", count: 1_025))\"",
    ] {
      XCTAssertTrue(digest(bad) == nil, "\(bad.prefix(40))")
      let (isHostile, recorded) = (Box(true), Box<NetworkError?>(nil))
      let virtual = server(scheme: { _, _ in isHostile.value ? bad : good })
      let network = virtual.network(interceptor())
      _ = network.responses(.get, "/").subscribe(onError: { recorded.value = NetworkError.wrapping($0) })
      virtual.scheduler.start()
      let error = try XCTUnwrap(recorded.value)
      XCTAssertEqual(error.kind, .authentication)
      XCTAssert(error.reason.contains("control character") && error.reason.utf8.count < 500, error.reason)
      isHostile.value = false
      XCTAssertEqual(get(virtual, network, "/"), "200 ok 00000001 / @0")
      // A known challenge is not replaced.
      isHostile.value = true
      XCTAssertEqual(get(virtual, network, "/"), "200 ok 00000002 / @0")
      XCTAssertEqual(virtual.stub.requests.count, 4)
    }
    XCTAssertNotNil(digest(good.replacing("\"r\"", with: "\"a\tü\"")))
  }

  func test_otherOrigins_receiveNothing() {
    let virtual = server()
    let network = virtual.network(interceptor())
    _ = get(virtual, network, "/")
    XCTAssertEqual(get(virtual, network, "http://other/"), "401 who @0")
    XCTAssertNil(virtual.stub.requests.last?.headers["Authorization"])
    virtual.note("", network.responses(.get, "/", headers: ["Authorization": "Mine"]))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.last?.headers["Authorization"], "Mine")
  }

  func test_bodyThatCanBeSentOnce_endsWithItsResponse() {
    let virtual = server()
    let network = virtual.network(interceptor())
    let once = Request.BodyStream(once: AsyncStream<Data> { $0.finish() })
    virtual.note("", network.responses(Call.post("/", .stream(once, contentType: "text/plain"))))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["401 who @0"])
  }

  func test_credentials_areKnownToCacheAndRedirects() throws {
    let virtual = server()
    let interceptor = interceptor()
    let network = virtual.network(interceptor)
    _ = get(virtual, network, "/")
    let sent = try XCTUnwrap(virtual.stub.requests.last)
    XCTAssertEqual(sent.credentials.map(\.account), ["ada"])
    XCTAssertEqual(sent.originBoundHeaders["Authorization"], sent.headers["Authorization"])
    XCTAssertEqual(network.logins.account(of: Request(url: try XCTUnwrap(URL(string: "http://h/x"))), from: 0), "ada")
    XCTAssertNil(network.logins.account(of: Request(url: try XCTUnwrap(URL(string: "http://other/x"))), from: 0))
  }
}
