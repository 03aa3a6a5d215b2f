import Foundation
import HTTPTransport
import XCTest

final class PublicKeyPinTests: XCTestCase {
  func test_aPinIsReadInEverySpelling() throws {
    // The digest of the last text begins with a slash, as the prefix of libcurl ends.
    for digest in [Data(0..<32), Data(count: 32), Data([0xFC]) + Data(count: 31)] {
      let base64 = digest.base64EncodedString()
      let pins = try ["", "sha256/", "sha256//"].map { try PublicKeyPin($0 + base64) }
      XCTAssertEqual(Set(pins).count, 1)
      XCTAssertEqual(pins.map(\.description), Array(repeating: "sha256/" + base64, count: 3))
    }
  }

  // libcurl compares the text of a pin, and unused bits of its last character must not matter.
  func test_aPinHasOneSpelling() throws {
    let zeros = String(repeating: "A", count: 42)
    XCTAssertEqual(try PublicKeyPin(zeros + "B="), try PublicKeyPin(zeros + "A="))
  }

  func test_textThatIsNotADigestIsRejected() {
    let digest = Data(count: 32).base64EncodedString()
    for text in [
      "", "sha256/", "sha256//short", "sha1/" + digest, "SHA256/" + digest, "sha256///" + digest, " " + digest,
      digest + "\n", String(digest.dropLast()), Data(count: 31).base64EncodedString(),
      Data(count: 33).base64EncodedString(), String(repeating: "-", count: 43) + "=",
    ] {
      XCTAssertThrowsError(try PublicKeyPin(text), text) { error in
        let error = error as? NetworkError
        XCTAssertEqual(error?.kind, .tls)
        XCTAssert(error?.reason.hasPrefix("the pin \(text.debugDescription) is not valid; use ") == true, text)
      }
    }
  }
}
