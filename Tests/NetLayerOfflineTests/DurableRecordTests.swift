import Foundation
import JSONText
import PortableFoundation
import XCTest

@testable import NetLayerOffline

/// Records: every damage is recognized, and members of other versions remain.
final class DurableRecordTests: XCTestCase {
  private func record(_ body: Data = Data("body".utf8)) -> DurableRecord {
    DurableRecord(lowestVersion: 3, head: ["key": "notes", "count": 7], body: body)
  }

  func test_record_isReadAsWritten() throws {
    for body in [Data(), Data([0]), Data("\n\n".utf8), Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })] {
      let found = try XCTUnwrap(DurableRecord(record(body).bytes))
      XCTAssertEqual(found.lowestVersion, 3)
      XCTAssertEqual(found.body, body)
      XCTAssertEqual(found.head["key"].string, "notes")
      XCTAssertEqual(found.head["count"].int, 7)
    }
    XCTAssertEqual(DurableRecord(DurableRecord().bytes)?.head.description, #"{"version":1}"#)
    let slice = (Data("xx".utf8) + record().bytes).dropFirst(2)
    XCTAssertEqual(DurableRecord(slice)?.body, Data("body".utf8), "a slice, whose indices do not start at 0")
  }

  func test_layout_isAHeadAndABodyInADurableFile() {
    let content = Data("{\"a\":1,\"version\":1}\nB".utf8)
    XCTAssertEqual(DurableRecord(head: ["a": 1], body: Data("B".utf8)).bytes, DurableFile.framed(content))
  }

  func test_headOfSeveralLines_isWrittenAsOne() throws {
    var record = record()
    record.set("note", try JSON(parsing: "{\n\"a\":\n[1,\"x\\ny\"]}"))
    let found = try XCTUnwrap(DurableRecord(record.bytes))
    XCTAssertEqual(found.head["note"]["a"][1].string, "x\ny")
    XCTAssertEqual(found.body, Data("body".utf8))
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
  func test_headsWithoutAVersion_areRejected() {
    for head in ["", "[]", "[1]", "{}", #"{"version":"1"}"#, #"{"version":1"#, #"{"version":1.5}"#, #"x{"version":1}"#]
    {
      XCTAssertNil(DurableRecord(DurableFile.framed(Data("\(head)\nB".utf8))), head)
    }
    XCTAssertNil(DurableRecord(DurableFile.framed(Data(#"{"version":1}"#.utf8))), "no line")
    XCTAssertNil(DurableRecord(Data("{\"version\":1}\n".utf8)), "no checksum")
    XCTAssertEqual(DurableRecord(DurableFile.framed(Data("{\"version\":200}\n".utf8)))?.lowestVersion, 200)
  }

  func test_membersOfOtherVersions_areKept() throws {
    var record = self.record()
    record.set("later", ["deep": [1, 2.50, "\u{1F375}"]])
    var found = try XCTUnwrap(DurableRecord(record.bytes))
    found.set("key", nil)
    found.set("count", 8)
    found.set("missing", ([:] as JSON)["no"])
    let again = try XCTUnwrap(DurableRecord(found.bytes))
    XCTAssertEqual(again.head.description, #"{"version":3,"later":{"deep":[1,2.5,"🍵"]},"count":8}"#)
    XCTAssertEqual(again.body, Data("body".utf8))
    XCTAssertEqual(again.lowestVersion, 3)
  }
}
