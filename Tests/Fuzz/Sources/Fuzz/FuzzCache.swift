import Foundation

@testable import DurableFiles
@testable import HTTPTransport
@testable import NetLayer

/// Reads the bytes as a file of the cache: unchanged, and with the right key and checksums, to reach the code after the checks.
func fuzzCache(_ data: Data) {
  var file = Array(data)
  func read() {
    file.withUnsafeBytes { file in
      let digest = file.count >= 64 ? Data(file[32..<64]) : Data()
      guard let entry = CacheEntry.decoded(file, digest: digest) else { return }
      let again = entry.encoded(digest: digest)
      check(
        again.withUnsafeBytes { CacheEntry.decoded($0, digest: digest) } != nil, "what was written can't be read")
      _ = entry.freshness.verdict(for: CacheControl(entry.headers), at: entry.receivedAt)
    }
  }
  read()
  guard file.count >= CacheEntry.fixedSize else { return }
  file.replaceSubrange(0..<8, with: Array("NLcache1".utf8))
  let head = min(Int(file[8]) | Int(file[9]) << 8, file.count - CacheEntry.fixedSize)
  let body = file.count - CacheEntry.fixedSize - head
  func put<Number: FixedWidthInteger>(_ number: Number, at place: Int) {
    withUnsafeBytes(of: number.littleEndian) { file.replaceSubrange(place..<(place + $0.count), with: $0) }
  }
  put(UInt32(head), at: 8)
  put(UInt64(body), at: 12)
  put(file[(file.count - body)...].withUnsafeBytes(Checksum.crc32), at: 20)
  put((file[..<68] + file[72..<(72 + head)]).withUnsafeBytes(Checksum.crc32), at: 68)
  read()
}
