// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import Foundation
  import XCTest

  @testable import HTTPTransport

  final class TrustPolicyTests: XCTestCase {
    private let host = "api.example.com"
    private var chain: [Certificate] {
      get throws { try TestCertificates.certificates(TestCertificates.server, TestCertificates.authority) }
    }
    private var otherPin: PublicKeyPin { get throws { try PublicKeyPin(Data(count: 32).base64EncodedString()) } }

    /// Returns the reason for which a server with `chain` is not trusted; `nil` if it is trusted.
    private func reason(
      _ options: TLSOptions, host: String? = nil, chain: [Certificate]? = nil, rejection: String? = nil
    ) throws -> String? {
      let policy = try TrustPolicy(options)
      let failure = policy.failure(of: host ?? self.host, chain: try chain ?? self.chain, rejection: rejection)
      if let failure { XCTAssertEqual(failure.kind, .tls) }
      return failure?.reason
    }

    private func pinned(_ pins: PublicKeyPin..., host: String? = nil) -> TLSOptions {
      TLSOptions(pins: [host ?? self.host: pins])
    }

    func test_theSystemDecidesWithoutSettings() throws {
      XCTAssertNil(try reason(TLSOptions()))
      XCTAssertNil(try reason(TLSOptions(), chain: []))
      XCTAssertFalse(try TrustPolicy(TLSOptions()).restricts(host))
      XCTAssertFalse(try TrustPolicy(pinned(otherPin)).restricts("other.example"))
      XCTAssert(try TrustPolicy(pinned(otherPin)).restricts(host))
      XCTAssert(try TrustPolicy(TLSOptions(trust: .pem(Data(TestCertificates.authority.utf8)))).restricts(host))
    }

    func test_noSettingAcceptsWhatTheSystemRejects() throws {
      let trust = TLSOptions.Trust.pem(Data(TestCertificates.authority.utf8))
      for options in [TLSOptions(), try pinned(chain[0].pin), TLSOptions(trust: trust)] {
        XCTAssertEqual(
          try reason(options, rejection: "it has expired"),
          "the certificate of api.example.com has expired: it has expired; renew it, or check the clock of this device")
      }
    }

    func test_aPinMatchesTheKeyOfTheServerOrOfACA() throws {
      let (server, authority) = (try chain[0].pin, try chain[1].pin)
      XCTAssertNil(try reason(pinned(server)))
      XCTAssertNil(try reason(pinned(authority)))
      XCTAssertNil(try reason(pinned(otherPin, server)))
      XCTAssertEqual(
        try reason(pinned(otherPin)),
        "no key of api.example.com matches its pins in TLSOptions.pins; the server's chain has \(server), \(authority); "
          + "if the server has a new key, add its pin")
    }

    // A chain that the system does not state has no key.
    func test_aPinNeverMatchesAnEmptyChain() throws {
      XCTAssert(try reason(pinned(chain[0].pin), chain: [])?.contains("has no key;") == true)
    }

    func test_pinsApplyToTheirHostOnly() throws {
      for (pinned, host) in [
        ("example.com", "api.example.com"), ("api.example.com", "example.com"), ("xample.com", "example.com"),
      ] {
        XCTAssertNil(try reason(TLSOptions(pins: [pinned: [otherPin]]), host: host), pinned)
      }
      // The spelling of the setting does not matter; that of the request is normalized.
      for spelling in ["API.Example.com", "api.example.com."] {
        XCTAssertNotNil(try reason(TLSOptions(pins: [spelling: [otherPin]])), spelling)
      }
      XCTAssertNotNil(try reason(TLSOptions(pins: ["0x7f.1": [otherPin]]), host: "127.0.0.1"))
    }

    func test_pinsOfSeveralSpellingsAreJoined() throws {
      let options = TLSOptions(pins: ["api.example.com": [try otherPin], "API.example.com": [try chain[0].pin]])
      XCTAssertNil(try reason(options))
    }

    func test_onlyTheGivenCAsAreTrusted() throws {
      func trust(_ certificates: String...) -> TLSOptions {
        TLSOptions(trust: .pem(Data(certificates.joined(separator: "\n").utf8)))
      }
      XCTAssertNil(try reason(trust(TestCertificates.authority)))
      XCTAssertNil(try reason(trust(TestCertificates.ed25519, TestCertificates.authority)))
      // A self-signed certificate is its own CA.
      XCTAssertNil(
        try reason(
          trust(TestCertificates.ed25519), chain: TestCertificates.certificates(TestCertificates.ed25519)))
      for chain in [try chain, []] {
        XCTAssertEqual(
          try reason(trust(TestCertificates.ed25519), chain: chain),
          "the certificate of api.example.com was not issued by a CA of TLSOptions.trust; check the server, or add its "
            + "CA")
      }
    }

    func test_customCAsAndPinsApplyTogether() throws {
      var options = TLSOptions(trust: .pem(Data(TestCertificates.authority.utf8)))
      options.pins = [host: [try chain[0].pin]]
      XCTAssertNil(try reason(options))
      options.pins = [host: [try otherPin]]
      XCTAssertNotNil(try reason(options))
      options.pins = [host: [try chain[0].pin]]
      options.trust = .pem(Data(TestCertificates.ed25519.utf8))
      XCTAssertNotNil(try reason(options))
    }

    func test_anInvalidCAOrPinIsRejected() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "ca-\(UUID().uuidString).pem")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data("no block".utf8).write(to: file)
      for (options, words) in [
        (TLSOptions(trust: .pem(file: file)), "\(file.path) does not contain a certificate"),
        (TLSOptions(trust: .pem(Data())), "the PEM text of TLSOptions.trust does not contain a certificate"),
        (
          TLSOptions(trust: .pem(Data("-----BEGIN CERTIFICATE-----".utf8))),
          "the PEM text of TLSOptions.trust contains an invalid certificate"
        ),
        (TLSOptions(trust: .pem(file: URL(filePath: "/no/such.pem"))), "/no/such.pem can't be read"),
        (TLSOptions(pins: ["h": []]), "no pin for h"),
      ] {
        XCTAssertThrowsError(try TrustPolicy(options), words) { error in
          let error = error as? NetworkError
          XCTAssertEqual(error?.kind, .tls)
          XCTAssert(error?.reason.contains(words) == true, error?.reason ?? "")
        }
      }
      try Data(TestCertificates.authority.utf8).write(to: file)
      XCTAssertNil(try reason(TLSOptions(trust: .pem(file: file))))
    }
  }
#endif
