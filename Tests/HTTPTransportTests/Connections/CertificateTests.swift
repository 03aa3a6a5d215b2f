import Foundation
import XCTest

@testable import HTTPTransport

final class CertificateTests: XCTestCase {
  // The pins are from `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary`.
  func test_thePinOfACertificateIsThatOfOpenSSL() throws {
    for (certificate, pin) in [
      (TestCertificates.authority, "sha256/p7NlqHxHAMsCcbCUxXm2k4Jf3/ZyvJwwO+sfE+PdYXI="),
      (TestCertificates.server, "sha256/rhEiZfnZTMEAqEia6Eg8+H/fdN5B3ag89UkxZVkaGZE="),
      (TestCertificates.ed25519, "sha256/epkskMcrra97xT6ZPVk2REbWOXIs4GmncVUU2478hQk="),
    ] {
      let found = try XCTUnwrap(Certificate.pem(Data(certificate.utf8)))
      XCTAssertEqual(found.map(\.pin.description), [pin])
    }
  }

  func test_pemTextContainsTheCertificatesInOrder() throws {
    let text =
      "# a comment\n"
      + [TestCertificates.server, TestCertificates.key, TestCertificates.authority]
      .joined(separator: "\n") + "\n"
    for text in [text, text.replacing("\n", with: "\r\n"), "  " + text.replacing("\n", with: "\n  ")] {
      let found = try XCTUnwrap(Certificate.pem(Data(text.utf8)))
      XCTAssertEqual(
        found.map(\.der),
        try [TestCertificates.server, TestCertificates.authority].map { try TestCertificates.der($0) })
    }
    XCTAssertEqual(Certificate.pem(Data("no block".utf8)), [])
    XCTAssertEqual(Certificate.pem(Data()), [])
  }

  func test_aPEMTextWithAnInvalidCertificateIsRejected() {
    let good = TestCertificates.server
    for text in [
      good.replacing("MIIB", with: "!!!!"), good.replacing("-----END CERTIFICATE-----", with: ""),
      "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----", good + "\n-----BEGIN CERTIFICATE-----\n",
      good + "\n-----BEGIN CERTIFICATE-----\n" + good,
    ] {
      XCTAssertNil(Certificate.pem(Data(text.utf8)), text)
    }
  }

  func test_aCertificateThatIsCutOrChangedNeverCrashes() throws {
    let der = try TestCertificates.der(TestCertificates.server)
    for length in 0..<der.count { XCTAssertNil(Certificate(der: der.prefix(length)), "\(length)") }
    XCTAssertNil(Certificate(der: der + [0]))
    for index in der.indices {
      for value: UInt8 in [0, 0x30, 0x7F, 0x80, 0x84, 0x85, 0xFF] {
        var changed = der
        changed[index] = value
        _ = Certificate(der: changed)
      }
    }
  }
}

/// Certificates that OpenSSL created: a CA (P-256), a server of it (RSA, version 1) and a self-signed one (Ed25519).
enum TestCertificates {
  /// Returns the certificate in DER.
  static func der(_ pem: String) throws -> Data {
    try XCTUnwrap(Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined()))
  }

  static func certificates(_ pem: String...) throws -> [Certificate] {
    try pem.map { try XCTUnwrap(Certificate(der: try der($0))) }
  }

  static let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"

  static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBezCCASGgAwIBAgIUUbi1xWmTz6lWGYlCdDItvCdy8NwwCgYIKoZIzj0EAwIw
    EjEQMA4GA1UEAwwHVGVzdCBDQTAgFw0yNjExMjYwNDAzMTZaGA8yMTI2MTEwMjA0
    MDMxNlowEjEQMA4GA1UEAwwHVGVzdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEH
    A0IABNPFrjzzfNn04BGms5w6G8O8cVtItksVRZSEf/kgOhEhtht6HpvVNASwNgcn
    qdwFpx8vdSvxXTiDIwg5kw+DxkSjUzBRMB0GA1UdDgQWBBSBCkiHJOthXWQuTceY
    bY/5No37FjAfBgNVHSMEGDAWgBSBCkiHJOthXWQuTceYbY/5No37FjAPBgNVHRMB
    Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIBtkBUCh9n/fAvJVDXAuPahapOv2
    ev73B7v7V5JG6zTPAiEAydKIL+Vlx6tvDiPAKX6tyqQMdGS62a0nzfWJ5oy139Q=
    -----END CERTIFICATE-----
    """

  static let server = """
    -----BEGIN CERTIFICATE-----
    MIIB4zCCAYkCAwCAATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdUZXN0IENBMCAX
    DTI2MTEyNjA0MDMxNloYDzIxMjYxMTAyMDQwMzE2WjAaMRgwFgYDVQQDDA9hcGku
    ZXhhbXBsZS5jb20wggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCyomKs
    NnD3slXvfTrhfiWASLKsmf+f37Q5L1/wNJrec6YiH7erqhzFmPs8/2IzS7Skeu1L
    pVm5gdv/BIU7BIiyJNEQTVgYlxhi9riguoSka5KeQjAppqh5NHjarxUCe3obif4Q
    u9fCxNga3O1myRABn089GbJKoGM6YqyAigI4A6sSGrVN2EHDvW75sgtpT+t2c5xW
    76x9E25xHX30gu2AJjWFmS10M5iSAuT9lzi3ZstZ18Bswts1YVEuJhGfVmhjMUfh
    zxXpX7QNA71P0jIrnJS/bgX8co80KDhwccosE8pgWCr749rkPgcVLTDc7S6YKQWW
    MmQIF7NiZZBQ98qzAgMBAAEwCgYIKoZIzj0EAwIDSAAwRQIhALlGp1bvskSbKy6f
    c8/mKayLv0laaKvjQuzSMkZQYw6dAiBwN5JSVdmfYTbufzPha2hEPT1A8xdmakFk
    JU7+9lGaZA==
    -----END CERTIFICATE-----
    """

  static let ed25519 = """
    -----BEGIN CERTIFICATE-----
    MIIBMDCB46ADAgECAhRRxZb4IK8x25j0kKEcWhbS0y5X2jAFBgMrZXAwDTELMAkG
    A1UEAwwCZWQwIBcNMjYxMTI2MDQwMzE2WhgPMjEyNjExMDIwNDAzMTZaMA0xCzAJ
    BgNVBAMMAmVkMCowBQYDK2VwAyEAae3jLLRNPHdt8aPnK5oV23GglG48uy9RfGiM
    8NpfzFujUzBRMB0GA1UdDgQWBBTLj2d/+Foq2cmVF7FNczPS6usYFTAfBgNVHSME
    GDAWgBTLj2d/+Foq2cmVF7FNczPS6usYFTAPBgNVHRMBAf8EBTADAQH/MAUGAytl
    cANBAIMC9OTmUGW3vZv8Ty/DH4MStlF+WFmluPym9S9CPUa2RpEnUdzDJpikLya2
    qJTK6452iXy35s+yIMuSFT0uiQI=
    -----END CERTIFICATE-----
    """
}
