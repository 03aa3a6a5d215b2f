import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// The anti-crawler signature of article 0: MD5 of the sorted parameters and a secret.
private struct AntiCrawler: Signer {
  let secret: String

  func sign(_ content: ContentToSign) -> RequestSignature {
    RequestSignature(parameters: ["sign": Hash.hex(Hash.md5(Data((content.text + secret).utf8)))])
  }
}

/// HMAC-SHA256 of method, path and parameters, in a header field.
private struct HMACSigner: Signer {
  let key: Data

  func sign(_ content: ContentToSign) -> RequestSignature {
    let text = "\(content.request.method)\n\(content.request.url.path)\n\(content.text)"
    return RequestSignature(headers: ["X-Signature": Hash.hmacSHA256(Data(text.utf8), key: key).hex])
  }
}

final class SignerTests: XCTestCase {
  private func network(_ transport: StubTransport, _ signer: any Signer) throws -> Network {
    Network(
      Backend(
        baseURL: try XCTUnwrap(URL(string: "http://h/api")), commonParameters: { ["token": "t", "device_id": "d"] },
        transport: transport, signer: signer))
  }

  func test_callWithTheContextOfASignedRequest_isNotSignedForAnotherOrigin() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = try network(transport, HMACSigner(key: Data("k".utf8)))
    _ = record(network.responses(.get, "/a"))
    var call = Call<Response>(.get, "http://other/b")
    call.context = transport.requests[0].context
    _ = record(network.responses(call))
    XCTAssertNotNil(transport.requests[0].headers["X-Signature"])
    XCTAssertNil(transport.requests[1].headers["X-Signature"])
    XCTAssertEqual(transport.requests[1].url.absoluteString, "http://other/b")
  }

  func test_row_0_2_md5Signature_coversTheSortedFinalParameters() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = try network(transport, AntiCrawler(secret: "s"))
    _ = record(network.responses(.get, "/a", parameters: ["z": "a b", "token": "mine"]))
    let sign = Hash.md5(Data("device_id=d&token=mine&z=a bs".utf8)).hex
    XCTAssertEqual(transport.requests[0].url.query(), "device_id=d&sign=\(sign)&token=mine&z=a%20b")
    _ = record(network.responses(.post, "/a", parameters: ["z": [1, 2]], encoding: .json))
    let second = Hash.md5(Data("device_id=d&token=t&z[]=1&z[]=2s".utf8)).hex
    XCTAssertEqual(transport.requests[1].text, #"{"device_id":"d","sign":"\#(second)","token":"t","z":[1,2]}"#)
  }

  func test_row_0_2_hmacSignature_canBeSentInAHeader() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = try network(transport, HMACSigner(key: Data("k".utf8))).with { $0.bodyEncoding = .form }
    _ = record(network.responses(.post, "/a", parameters: ["b": true]))
    let expected = Hash.hmacSHA256(Data("POST\n/api/a\nb=1&device_id=d&token=t".utf8), key: Data("k".utf8)).hex
    XCTAssertEqual(transport.requests[0].headers["X-Signature"], expected)
    XCTAssertEqual(transport.requests[0].text, "b=1&device_id=d&token=t")
  }

  func test_everyTask_passesItsNamedParametersToTheSigner() throws {
    let common: Parameters = ["c": 0]
    let file = URL(filePath: "/x")
    let tasks: [(HTTPTask, String)] = [
      (.none, "c=0"), (.data(Data()), "c=0"), (.upload(file), "c=0"),
      (.stream(Request.BodyStream { { nil } }), "c=0"), (.parameters(["a": 1]), "a=1&c=0"),
      (.composite(query: ["a": 1], body: ["b": 2]), "a=1&b=2&c=0"), (.json(["a": 1]), "a=1&c=0"),
      (.json([1, 2]), "c=0"), (.form(["a": 1]), "a=1&c=0"), (.download(to: file, parameters: ["a": 1]), "a=1&c=0"),
      (.multipart(MultipartForm([.field("f", "x"), .data(Data(), name: "g", filename: "h")])), "c=0&f=x"),
    ]
    for (task, text) in tasks {
      let pairs = try TaskEncoder(task: task, common: common).pairs(for: .post)
      XCTAssertEqual(pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&"), text)
    }
  }

  func test_failingSigner_sendsNothing() throws {
    struct Broken: Signer {
      struct NoKey: Error {}
      func sign(_ content: ContentToSign) throws -> RequestSignature { throw NoKey() }
    }
    let transport = StubTransport { _ in .json("{}") }
    let error = try failure(of: network(transport, Broken()).responses(.get, "/a"))
    XCTAssertEqual(error.kind, .encoding)
    XCTAssertTrue(error.underlying is Broken.NoKey)
    XCTAssertEqual(transport.requests.count, 0)
  }

  func test_row_0_2_secrets_areSentOnlyToTheBackendsOrigin() throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = try network(transport, AntiCrawler(secret: "s")).with { $0.headers = ["Authorization": "secret"] }
    for foreign in ["http://other/a", "https://h/a", "http://h:81/a", "http://h.evil/a"] {
      _ = record(network.responses(.get, foreign, parameters: ["q": 1], headers: ["X": "own"]))
    }
    for request in transport.requests {
      XCTAssertEqual(request.url.query(), "q=1")
      XCTAssertNil(request.headers["Authorization"])
      XCTAssertEqual(request.headers["X"], "own")
    }
    _ = record(network.responses(.get, "http://H:80/b"))
    XCTAssertEqual(transport.requests.last?.headers["Authorization"], "secret")
    XCTAssertTrue(transport.requests.last?.url.query()?.contains("token=t") == true)
  }
}
