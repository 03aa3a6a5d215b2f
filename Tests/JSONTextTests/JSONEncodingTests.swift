import JSONText
import XCTest

final class JSONEncodingTests: XCTestCase {
  func test_everyUnicodeEncodingIsRecognisedWithAndWithoutItsMark() throws {
    let text = #"{"a":["é网😀",1.5]}"#
    for encoding: String.Encoding in [
      .utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ] {
      for mark in ["", "\u{FEFF}"] {
        let json = try JSON(parsing: XCTUnwrap((mark + text).data(using: encoding)))
        XCTAssertEqual(json["a"][0].string, "é网😀", "\(encoding)")
        XCTAssertEqual(json.description, text, "the text is given in UTF-8")
        XCTAssertEqual(try json.decode([String: [JSON]].self)["a"]?.last?.double, 1.5)
      }
    }
    XCTAssertEqual(try JSON(parsing: Data([0x31, 0])).int, 1)
    XCTAssertEqual(try JSON(parsing: Data([0, 0, 0, 0x31])).int, 1)
  }

  func test_whatOnlyBeginsAsUTF16OrUTF32IsRefused() {
    for (bytes, offset) in [
      ([0x22, 0, 0x00, 0xD8, 0x22, 0], 2), ([0x22, 0, 0x00, 0xDC, 0x22, 0], 2), ([0x22, 0, 0x61], 2),
      ([0, 0x22, 0xD8, 0x00], 4), ([0, 0x22, 0xD8, 0x00, 0, 0x22], 2), ([0x22, 0, 0, 0, 0, 0, 0x11, 0], 4),
      ([0, 0, 0, 0x22, 0, 0, 0xD8, 0], 4),
    ] as [([UInt8], Int)] {
      XCTAssertThrowsError(try JSON(parsing: Data(bytes)), "\(bytes)") { error in
        XCTAssertEqual((error as? JSONError)?.kind, .invalidUnicode, "\(bytes)")
        XCTAssertEqual((error as? JSONError)?.offset, offset, "\(bytes)")
      }
    }
  }
}
