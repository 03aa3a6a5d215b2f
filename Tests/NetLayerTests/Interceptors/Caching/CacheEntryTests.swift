import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class CacheEntryTests: XCTestCase {
  private let digest = Hash.sha256(Data("key".utf8))
  private let entry = CacheEntry(
    status: 203, url: "http://h/北?a=1",
    headers: HTTPHeaders([
      .init(name: "Set-Cookie", value: "a=1"), .init(name: "set-cookie", value: "ä"), .init(name: "X", value: ""),
    ]), body: Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) }), requestedAt: 12.25, receivedAt: 13.5,
    expiresAt: 99, hasQuery: true)

  private func decode(_ file: Data, digest: Data? = nil) -> CacheEntry? {
    file.withUnsafeBytes { CacheEntry.decoded($0, digest: digest ?? self.digest) }
  }

  func test_entry_survivesWritingAndReading() throws {
    let again = try XCTUnwrap(decode(entry.encoded(digest: digest)))
    XCTAssertEqual(again.status, 203)
    XCTAssertEqual(again.url, entry.url)
    XCTAssertEqual(again.headers, entry.headers)
    XCTAssertEqual(again.body, entry.body)
    XCTAssertEqual([again.requestedAt, again.receivedAt, again.expiresAt], [12.25, 13.5, 99])
    XCTAssertTrue(again.hasQuery)
    let empty = CacheEntry(status: 204, headers: [:], body: Data(), requestedAt: 0, receivedAt: 0)
    XCTAssertEqual(decode(empty.encoded(digest: digest))?.expiresAt, .infinity)
  }

  func test_truncatedFile_isNotAnEntry() {
    let file = entry.encoded(digest: digest)
    for count in 0..<file.count { XCTAssertNil(decode(file.prefix(count)), "\(count) bytes") }
    XCTAssertNil(decode(file + Data([0])))
  }

  func test_fileWithAnyBitChanged_isNotAnEntry() {
    let file = entry.encoded(digest: digest)
    for place in 0..<file.count {
      var changed = file
      changed[place] ^= 1 << (place % 8)
      XCTAssertNil(decode(changed), "byte \(place)")
    }
  }

  func test_fileOfAnotherKey_isNotAnEntry() {
    XCTAssertNil(decode(entry.encoded(digest: digest), digest: Hash.sha256(Data("other".utf8))))
  }

  func test_checksums_matchCRC32() {
    XCTAssertEqual(Data("123456789".utf8).withUnsafeBytes(Checksum.crc32), 0xCBF4_3926)
    XCTAssertEqual(Data().withUnsafeBytes(Checksum.crc32), 0)
    XCTAssertEqual(
      Data("The quick brown fox jumps over the lazy dog".utf8).withUnsafeBytes(Checksum.crc32), 0x414F_A339)
  }

  func test_arbitraryBytes_areReadWithoutTrap() {
    let file = entry.encoded(digest: digest)
    var generator = randomNumbers()
    for _ in 0..<3000 {
      var bytes = file.prefix(Int.random(in: 0...file.count, using: &generator))
      for _ in 0..<Int.random(in: 0...8, using: &generator) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = bytes.withUnsafeBytes { CacheEntry.decoded($0, digest: digest) }
    }
  }
}
