import Foundation
import JSONText
import PortableFoundation
import XCTest

@testable import HTTPTransport

/// Records: every damage is recognized, and members of other versions remain.
final class DurableRecordTests: XCTestCase {
  private func record(_ body: Data = Data("body".utf8)) -> DurableRecord {
    var record = DurableRecord(lowestVersion: 3, body: body)
    record.set("key", "notes")
    record.set("count", 7)
    return record
  }

  func test_record_isReadAsWritten() throws {
    for body in [Data(), Data([0]), Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })] {
      let found = try XCTUnwrap(DurableRecord(record(body).bytes))
      XCTAssertEqual(found.lowestVersion, 3)
      XCTAssertEqual(found.body, body)
      XCTAssertEqual(found.head["key"].string, "notes")
      XCTAssertEqual(found.head["count"].int, 7)
    }
    XCTAssertEqual(DurableRecord(DurableRecord().bytes)?.head.description, "{}")
    let slice = (Data("xx".utf8) + record().bytes).dropFirst(2)
    XCTAssertEqual(DurableRecord(slice)?.body, Data("body".utf8), "a slice, whose indices do not start at 0")
  }

  func test_layout_isThatOfThePage() {
    var record = DurableRecord(lowestVersion: 1, body: Data("B".utf8))
    record.set("a", 1)
    let bytes = [UInt8](record.bytes)
    XCTAssertEqual(
      Array(bytes[..<24]), Array("NLentry1".utf8) + [1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    XCTAssertEqual(Array(bytes[28...]), Array("{\"a\":1}B".utf8))
    let rest = Array(bytes[..<24]) + Array(bytes[28...])
    let sum = rest.withUnsafeBytes { Checksum.crc32($0) }
    XCTAssertEqual(Array(bytes[24..<28]), withUnsafeBytes(of: sum.littleEndian) { Array($0) })
  }

  func test_everyTruncation_andEveryExtension_isRecognized() {
    let bytes = record().bytes
    for count in 0..<bytes.count { XCTAssertNil(DurableRecord(bytes.prefix(count)), "the first \(count) bytes") }
    for extra in [Data([0]), Data("x".utf8), Data(count: 4096), bytes] {
      XCTAssertNil(DurableRecord(bytes + extra), "\(extra.count) bytes after the end")
    }
  }

  func test_everyFlippedBit_isRecognized() {
    for bytes in [record().bytes, record(Data()).bytes, DurableRecord().bytes] {
      for place in bytes.indices {
        for bit in 0..<8 {
          var flipped = bytes
          flipped[place] ^= 1 << UInt8(bit)
          XCTAssertNil(DurableRecord(flipped), "bit \(bit) of byte \(place)")
        }
      }
    }
  }

  func test_zeroedBytes_areRecognized() {
    let bytes = record().bytes
    for place in bytes.indices {
      XCTAssertNil(DurableRecord(bytes.prefix(place) + Data(count: bytes.count - place)), "zeros from byte \(place)")
    }
  }

  /// Damage that the checksum can't recognize, because it was made with it.
  func test_lengthsAndHeadsThatContradictTheFile_areRejected() {
    let bytes = record().bytes
    func changed(_ change: (inout Data) -> Void) -> Data {
      var data = bytes
      change(&data)
      let rest = data[..<24] + data[28...]
      let sum = Data(rest).withUnsafeBytes { Checksum.crc32($0) }
      withUnsafeBytes(of: sum.littleEndian) { data.replaceSubrange(24..<28, with: $0) }
      return data
    }
    XCTAssertNotNil(DurableRecord(changed { _ in }))
    XCTAssertNotNil(DurableRecord(changed { $0[8] = 200 }), "a later version is read")
    XCTAssertNil(DurableRecord(changed { for place in 12..<16 { $0[place] = 255 } }), "a head beyond the end")
    XCTAssertNil(DurableRecord(changed { for place in 16..<24 { $0[place] = 255 } }), "a body beyond the end")
    XCTAssertNil(DurableRecord(changed { for place in 12..<24 { $0[place] = 255 } }), "a sum that overflows")
    XCTAssertNil(DurableRecord(changed { $0[28] = UInt8(ascii: "[") }), "a head that is not JSON")
    XCTAssertNil(DurableRecord(changed { $0.replaceSubrange(28..<30, with: Data("[]".utf8)) }), "no object")
  }

  func test_membersOfOtherVersions_areKept() throws {
    var record = self.record()
    record.set("later", ["deep": [1, 2.50, "\u{1F375}"]])
    var found = try XCTUnwrap(DurableRecord(record.bytes))
    found.set("key", nil)
    found.set("count", 8)
    found.set("missing", ([:] as JSON)["no"])
    let again = try XCTUnwrap(DurableRecord(found.bytes))
    XCTAssertEqual(again.head.description, #"{"later":{"deep":[1,2.5,"🍵"]},"count":8}"#)
    XCTAssertEqual(again.body, Data("body".utf8))
    XCTAssertEqual(again.lowestVersion, 3)
  }
}
