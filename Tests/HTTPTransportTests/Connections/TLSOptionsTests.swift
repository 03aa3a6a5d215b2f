import Foundation
import XCTest

@testable import HTTPTransport

final class TLSOptionsTests: XCTestCase {
  private var pin: PublicKeyPin { get throws { try PublicKeyPin(Data(count: 32).base64EncodedString()) } }

  func test_pinsApplyToEverySpellingOfAnInternationalName() throws {
    let pin = try pin
    let tls = TLSOptions(pins: ["bücher.example": [pin]])
    for host in ["bücher.example", "b%C3%BCcher.example", "B%C3%9CCHER.example.", "xn--bcher-kva.example"] {
      let url = try XCTUnwrap(URL(string: "https://\(host)/"))
      XCTAssertEqual(HostSpelling.host(of: url).flatMap { tls.pinsByHost[$0] }, [pin], host)
      XCTAssertEqual(Origin(url), Origin(try XCTUnwrap(URL(string: "https://bücher.example/"))), host)
    }
  }

  func test_pinsApplyToEverySpellingOfAnAddress() throws {
    let pin = try pin
    let tls = TLSOptions(pins: ["127.0.0.1": [pin]])
    for host in ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1."] {
      let url = try XCTUnwrap(URL(string: "https://\(host)/"))
      XCTAssertEqual(HostSpelling.host(of: url).flatMap { tls.pinsByHost[$0] }, [pin], host)
    }
    XCTAssertNotNil(TLSOptions(pins: ["0x7f000001": [pin]]).pinsByHost["127.0.0.1"])
    let mapped = try XCTUnwrap(URL(string: "https://[::FFFF:127.0.0.1]/"))
    XCTAssertEqual(HostSpelling.host(of: mapped), "127.0.0.1")
    let six = TLSOptions(pins: ["::1": [pin]])
    for host in ["::1", "0:0:0:0:0:0:0:1", "0::1", "::0001", "::1%25lo", "::0.0.0.1"] {
      let url = try XCTUnwrap(URL(string: "https://[\(host)]/"))
      XCTAssertEqual(HostSpelling.host(of: url).flatMap { six.pinsByHost[$0] }, [pin], host)
    }
    XCTAssertNotNil(TLSOptions(pins: ["[0:0::1]": [pin]]).pinsByHost["0:0:0:0:0:0:0:1"])
    XCTAssertEqual(
      HostSpelling.host(of: try XCTUnwrap(URL(string: "https://1and1.example/"))), "1and1.example")
  }

  func test_invalidSettingsAreReported() throws {
    let missing = URL(filePath: "/no/such/key.pem")
    for (options, words) in [
      (TLSOptions(trust: .pem(file: missing)), "the CA file /no/such/key.pem can't be read"),
      (TLSOptions(identity: .init(certificate: missing, key: missing)), "the file /no/such/key.pem"),
      (TLSOptions(pins: ["h": []]), "no pin for h"),
      (TLSOptions(pins: ["a/b": [try pin]]), #""a/b" is not a valid host"#),
    ] {
      XCTAssertEqual(options.failure?.kind, .tls)
      XCTAssert(options.failure?.reason.contains(words) == true, "\(options.failure?.reason ?? "")")
    }
    XCTAssertNil(TLSOptions(pins: ["h": [try pin, try pin]], minVersion: .v1_3).failure)
  }
}
