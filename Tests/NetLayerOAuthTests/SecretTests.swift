import Foundation
import NetLayerOAuth
import NetLayerRecording
import NetLayerTesting
import TestSupport
import XCTest

/// No secret is in a description, a mirror, a log, a `curl` command, a HAR file or an error.
final class SecretTests: XCTestCase {
  private static let secrets = [
    "s3cret-client", "s3cret-access", "s3cret-refresh", "s3cret-device", "s3cret-assertion", "s3cret-verifier",
    "s3cret-password", "s3cret-code", Data("cli:s3cret-client".utf8).base64EncodedString(),
  ]

  private func check(_ text: String, _ place: String, line: UInt = #line) {
    for secret in Self.secrets {
      XCTAssertFalse(text.contains(secret), "\(secret) is in \(place): \(text)", line: line)
    }
  }

  /// Checks the texts, the mirror, the request and the response of an error.
  private func check(_ error: NetworkError, line: UInt = #line) {
    check(dumped(error), "the mirror of an error", line: line)
    check("\(error) \(error.reason) \(error.message)", "an error", line: line)
    check(error.request?.bodyText ?? "", "the request of an error", line: line)
    check(error.response?.request.bodyText ?? "", "the request of a response of an error", line: line)
    check(String(decoding: error.response?.body ?? Data(), as: UTF8.self), "the response of an error", line: line)
  }

  private func dumped(_ value: Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
  }

  private func world(_ notes: Notes, _ recorder: Recorder, status: Int = 200) -> World {
    let logger = NetworkLogger(level: .body, showsCurl: true, maxBodySize: 1 << 20) { notes.add($0) }
    return World(clock: JumpingClock(), interceptors: [recorder, logger]) { request in
      switch request.url.path {
      case "/device":
        .json(#"{"device_code":"s3cret-device","user_code":"U","verification_uri":"https://as/d"}"#)
      case "/revoke" where status == 200: .response(status: 200)
      default:
        status == 200
          ? .json(
            #"{"access_token":"s3cret-access","refresh_token":"s3cret-refresh","id_token":"\#(idToken(Self.claims))"}"#)
          : .json(#"{"error":"invalid_client"}"#, status: status)
      }
    }
  }

  private static let claims = #"{"iss":"https://as","aud":"cli","exp":99999999999,"sub":"ada"}"#

  private func authentications() -> [OAuthClient.Authentication] {
    [
      .secret("s3cret-client"), .secretInBody("s3cret-client"), .secretUnescaped("s3cret-client"),
      .assertion { _ in "s3cret-assertion" },
    ]
  }

  func test_noSecretIsShown_whenTheServerGrants() async throws {
    let (notes, recorder) = (Notes(), Recorder())
    let world = world(notes, recorder)
    for authentication in authentications() {
      let client = world.client(authentication: authentication, parameters: ["client_secret": "s3cret-client"])
      let grants = [
        try await client.authorizeDevice { self.check(self.dumped($0), "the device code") },
        try await client.authorize(redirectingTo: "app:/cb") {
          url("app:/cb?code=s3cret-code&state=\($0.pairs["state"] ?? "")")
        },
        try await client.grant("password", ["username": "u", "password": "s3cret-password"]),
      ]
      let token = try await client.refresh(grants[0].token)
      _ = try await client.clientCredentials()
      try await client.revoke(token)
      for value in [authentication, client, grants[1], token, grants] as [Any] {
        check("\(value)", "a description")
        check(String(reflecting: value), "a debug description")
        check(dumped(value), "a mirror")
      }
    }
    XCTAssertGreaterThan(notes.all.count, 30)
    for line in notes.all { check(line, "the log") }
    check(String(decoding: recorder.har(), as: UTF8.self), "the HAR file")
    for request in world.requests {
      check(request.curlCommand(), "a curl command")
      check(request.description, "a request")
    }
    XCTAssert(world.requests.contains { $0.bodyText.contains("s3cret-device") }, "the secrets were sent")
  }

  func test_noSecretIsInAnError() async throws {
    for status in [400, 500] {
      let (notes, recorder) = (Notes(), Recorder())
      let world = world(notes, recorder, status: status)
      for authentication in authentications() {
        let client = world.client(authentication: authentication)
        let token = Token(access: "s3cret-access", refresh: "s3cret-refresh")
        let errors = [
          try await thrown { try await client.refresh(token) },
          try await thrown { try await client.clientCredentials() },
          try await thrown { try await client.revoke(token) },
          try await thrown { try await client.grant("password", ["username": "u", "password": "s3cret-password"]) },
        ]
        for error in errors { check(error) }
      }
      for line in notes.all { check(line, "the log") }
      check(String(decoding: recorder.har(), as: UTF8.self), "the HAR file")
    }
  }

  /// A response that can't be read may contain a token.
  func test_noSecretIsInTheErrorOfAResponseThatCanNotBeRead() async throws {
    for text in [
      #"{"access_token":"s3cret-access\n"}"#, #"{"access_token":7,"refresh_token":"s3cret-refresh"}"#,
      #"{"access_token":"s3cret-access""#, #"{"access_token":"s3cret-access","token_type":"dpop"}"#,
      #"{"access_token":"s3cret-access","id_token":"s3cret-assertion"}"#, #"{"refresh_token":"s3cret-refresh"}"#,
      #"{"id_token":"s3cret-assertion"}"#,
      #"{"error":"invalid_request","access_token":"s3cret-access"}"#,
    ] {
      let error = try await thrown {
        try await World(.json(text)).client(authentication: .secret("s3cret-client")).grant("x", [:])
      }
      check(error)
    }
    let lost = try await thrown {
      try await World(.failure(.connection)).client(authentication: .secret("s3cret-client")).clientCredentials()
    }
    check(lost)
    XCTAssertEqual(lost.request?.url, World.server.token)
  }

  func test_noSecretIsShown_ofAnEarlierAttempt() async throws {
    for authentication in authentications() {
      let count = Counter()
      let stub = StubTransport { _ in count.next() == 1 ? .response(status: 503) : .never }
      let policy = RetryPolicy(attempts: 3, initialDelay: .milliseconds(1))
      let network = Network(
        Backend(
          transport: stub, timeouts: .init(call: .milliseconds(200)),
          interceptors: [RetryInterceptor(policy: policy, isRepeatable: { _ in true })]))
      let client = OAuthClient(server: World.server, id: "cli", authentication: authentication, network: network)
      let error = try await thrown { try await client.refresh(Token(access: "a", refresh: "s3cret-refresh")) }
      XCTAssertEqual(error.kind, .timeout)
      check(error)
      check(try XCTUnwrap(error.underlying as? NetworkError))
    }
  }
}
