import Foundation
import XCTest

@testable import DurableFiles

final class HashTests: XCTestCase {
  // The vectors are from the examples of FIPS 180-4, RFC 4231 and RFC 1321 §A.5.
  func test_sha256() {
    let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    for (text, digest) in [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (long, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ] { XCTAssertEqual(Hash.sha256(Data(text.utf8)).hex, digest) }
    XCTAssertEqual(
      Hash.sha256(Data(repeating: UInt8(ascii: "a"), count: 1000)).hex,
      "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
  }

  func test_sha256_ofChunks_isThatOfTheWhole() {
    let bytes = Data((0..<200).map { UInt8($0) })
    for size in 1...130 {
      var digest = SHA256()
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { digest.update($0) }
      }
      XCTAssertEqual(Data(digest.finish()), Hash.sha256(bytes), "chunks of \(size) bytes")
    }
  }

  func test_hmacSHA256() {
    XCTAssertEqual(
      Hash.hmacSHA256(Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8)).hex,
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    XCTAssertEqual(
      Hash.hmacSHA256(
        Data("Test Using Larger Than Block-Size Key - Hash Key First".utf8), key: Data(repeating: 0xAA, count: 131)
      ).hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    // A key of one block is used as it is.
    XCTAssertEqual(
      Hash.hmacSHA256(Data("Hi There".utf8), key: Data(0..<64)).hex,
      "e311769a0a9a3af1ad9da74c1933bab5ac0aa48367b55ab6ec995508bdab1db6")
  }

  func test_md5() {
    let digits = String(repeating: "1234567890", count: 8)
    for (text, digest) in [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
      ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"), (digits, "57edf4a22be3c955ac49da2e2107b67a"),
    ] { XCTAssertEqual(Hash.md5(Data(text.utf8)).hex, digest) }
  }

  func test_bytesOfHexadecimalDigits() {
    XCTAssertEqual(Hash.bytes(hex: "00ff7F"), Data([0, 255, 127]))
    XCTAssertEqual(Hash.bytes(hex: ""), Data())
    XCTAssertEqual(Hash.bytes(hex: Hash.hex(Hash.sha256(Data("a".utf8)))), Hash.sha256(Data("a".utf8)))
    for text in ["0", "0g", "0x00", " 00", "00 ", "００", "é0"] { XCTAssertNil(Hash.bytes(hex: text), text) }
  }

  func test_isEqual() {
    let code = Hash.hmacSHA256(Data("body".utf8), key: Data("secret".utf8))
    XCTAssertTrue(Hash.isEqual(code, code))
    XCTAssertTrue(Hash.isEqual(Data(), Data()))
    for index in code.indices {
      var other = code
      other[index] ^= 1
      XCTAssertFalse(Hash.isEqual(code, other))
    }
    XCTAssertFalse(Hash.isEqual(code, code.dropLast()))
    XCTAssertFalse(Hash.isEqual(Data(), code))
    XCTAssertTrue(Hash.isEqual(code, (Data([1]) + code).dropFirst()), "a slice has other indices")
  }

  func test_sha1() {
    func hex(_ text: String) -> String { Data(SHA1.hash(Array(text.utf8))).hex }
    XCTAssertEqual(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d")
    XCTAssertEqual(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    XCTAssertEqual(
      hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    XCTAssertEqual(hex(String(repeating: "a", count: 1000)), "291e9a6c66994949b57ba5e650361e98fc36b1ba")
  }

  /// The digest of the digests of messages of 0 to 199 bytes, which cross the sizes of one, two and three blocks.
  func test_sha1_ofAllLengths() {
    let digests = (0..<200).flatMap { count in
      SHA1.hash((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) })
    }
    XCTAssertEqual(Data(SHA1.hash(digests)).hex, "c2add6cb3908952ddaf192d7f14c30588649e3b5")
  }
}
