import Foundation
import NetLayer
import NetLayerTesting
import XCTest

func isGenuine(_ body: Data, signature: String, secret: Data) -> Bool {
  Hash.bytes(hex: signature).map { Hash.isEqual($0, Hash.hmacSHA256(body, key: secret)) } ?? false
}

/// The signer of the guide, whose signatures are those of botocore 1.43.
final class AmazonSamples: XCTestCase {
  private func authorization(_ service: String, _ call: Call<Response>) async throws -> String {
    let stub = StubTransport { _ in .response(status: 200) }
    let signer = AmazonSigner(
      key: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token: "token", region: "eu-west-1",
      service: service, now: { Date(timeIntervalSince1970: 1_795_827_723) })
    try await Network(Backend(transport: stub, signer: signer)).fetch(call)
    let headers = try XCTUnwrap(stub.requests.last?.headers)
    XCTAssertEqual(headers["X-Amz-Date"], "20261128T010203Z")
    XCTAssertEqual(headers["X-Amz-Security-Token"], "token")
    return try XCTUnwrap(headers["Authorization"])
  }

  private func expected(_ service: String, _ signature: String) -> String {
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261128/eu-west-1/\(service)/aws4_request, "
      + "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=\(signature)"
  }

  func test_webhooks() {
    let (body, secret) = (Data("{}".utf8), Data("s".utf8))
    let signature = Hash.hex(Hash.hmacSHA256(body, key: secret))
    XCTAssertTrue(isGenuine(body, signature: signature.uppercased(), secret: secret))
    for other in ["", "00", String(signature.reversed()), "sha256=" + signature] {
      XCTAssertFalse(isGenuine(body, signature: other, secret: secret))
    }
  }

  func test_signaturesAreThoseOfBotocore() async throws {
    let query = "prefix=a%2Fb&list-type=2&empty="
    let listing = try await authorization(
      "s3", .get("https://s3.example/bucket/a%20b/%C3%BC%2B%2A%27%28%29~?\(query)"))
    XCTAssertEqual(listing, expected("s3", "6b9859e5db6f4a1dc8e1b26c111bea78dd5be24437a57144ce60db7bdcbb9469"))
    let upload = try await authorization(
      "s3",
      Call(.put, "https://s3.example/bucket/notes.txt", task: .data(Data("hello".utf8), contentType: "text/plain")))
    XCTAssertEqual(upload, expected("s3", "2565bcc70331316e695fa73a7f648617d7c624390deab2ef63e9c7e4952cc3f6"))
    let table = Data(#"{"TableName":"notes"}"#.utf8)
    let row = try await authorization(
      "dynamodb", Call(.post, "https://dynamodb.example/", task: .data(table, contentType: "application/json")))
    XCTAssertEqual(row, expected("dynamodb", "73d8a4ef2cbf06787e8e0d91833d5dcdbf0dbf90cddb973412e3c86a85409105"))
    let pets = try await authorization("execute-api", .get("https://api.example/pets/a%20b?b=2&a=1&a=0"))
    XCTAssertEqual(pets, expected("execute-api", "71282ab2eda98e49d425520024dd575937fb0cd76189dee85ffbd284b8680a63"))
  }

  func test_theBackendSignsEachCall() async throws {
    let stub = StubTransport { _ in .response(status: 200) }
    let bucket = URL(string: "https://s3.eu-west-1.amazonaws.com/notes/")
    let (key, secret) = ("AKIDEXAMPLE", "secret")
    let s3 = Network(
      Backend(
        baseURL: bucket, transport: stub,
        signer: AmazonSigner(key: key, secret: secret, region: "eu-west-1", service: "s3")))
    try await s3.fetch(.get("", query: ["list-type": 2, "prefix": "2026/"]))
    XCTAssertEqual(stub.requests.last?.headers["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID"), true)
  }
}

struct AmazonSigner: Signer {
  let key, secret: String
  var token: String?
  let region, service: String
  var now: @Sendable () -> Date = { Date() }

  func sign(_ content: ContentToSign) async throws -> RequestSignature {
    let request = content.request
    guard let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return RequestSignature() }
    let time = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted).format(now())
    let hash =
      switch request.body {
      case .none: Hash.hex(Hash.sha256(Data()))
      case .data(let data): Hash.hex(Hash.sha256(data))
      default: "UNSIGNED-PAYLOAD"
      }
    var fields = ["x-amz-content-sha256": hash, "x-amz-date": time, "x-amz-security-token": token]
    fields["host"] = (parts.host ?? "") + (parts.port.map { ":\($0)" } ?? "")
    let signed = fields.compactMapValues(\.self).sorted { $0.key < $1.key }
    let names = signed.map(\.key).joined(separator: ";")
    // S3 signs the path as it is; other services escape it again.
    let path = service == "s3" ? parts.path : parts.percentEncodedPath
    let query = (parts.queryItems ?? []).map { "\(escaped($0.name))=\(escaped($0.value ?? ""))" }.sorted()
    let lines =
      [request.method.rawValue, path.isEmpty ? "/" : escaped(path, keeping: "/"), query.joined(separator: "&")]
      + signed.map { "\($0.key):\($0.value)" } + ["", names, hash]
    let scope = [String(time.prefix(8)), region, service, "aws4_request"]
    let digest = Hash.hex(Hash.sha256(Data(lines.joined(separator: "\n").utf8)))
    let text = ["AWS4-HMAC-SHA256", time, scope.joined(separator: "/"), digest].joined(separator: "\n")
    let derived = (scope + [text]).reduce(Data("AWS4\(secret)".utf8)) {
      Hash.hmacSHA256(Data($1.utf8), key: $0)
    }
    var headers: HTTPHeaders = ["X-Amz-Date": time, "X-Amz-Content-SHA256": hash]
    headers["X-Amz-Security-Token"] = token
    headers["Authorization"] =
      "AWS4-HMAC-SHA256 Credential=\(key)/\(scope.joined(separator: "/")), SignedHeaders=\(names), "
      + "Signature=\(Hash.hex(derived))"
    return RequestSignature(headers: headers)
  }

  private func escaped(_ text: String, keeping other: String = "") -> String {
    let kept = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~" + other)
    return text.addingPercentEncoding(withAllowedCharacters: kept) ?? text
  }
}
