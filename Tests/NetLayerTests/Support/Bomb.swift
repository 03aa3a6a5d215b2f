import Foundation
import HTTPTransport

/// Compressed bodies of 1 GB of zeros, in each coding.
enum Bomb {
  /// The decoded sizes are several times the memory that may be in use.
  private static let size = 256 << 20
  static let bodies: [(coding: String, size: Int, chunks: [[UInt8]])] = [
    ("gzip", size, Array(repeating: gzipMember, count: size / memberSize)), ("br", 1 << 30, [brotli]),
    ("zstd", size, [zstd]),
  ]

  /// Returns whether the default transport decodes `coding` on this machine.
  static func isKnown(_ coding: String) -> Bool {
    #if canImport(CLibcurl)
      guard let found = CurlTransport.capabilities else { return coding == "gzip" }
      return [("gzip", found.gzip), ("br", found.brotli), ("zstd", found.zstd)].contains { $0 == (coding, true) }
    #else
      return coding == "gzip"
    #endif
  }

  private static let memberSize = 16 << 20

  /// One gzip member (RFC 1952 §2.2): a zero, then copies of 258 bytes with the fixed codes (RFC 1951 §3.2.6).
  private static let gzipMember: [UInt8] = {
    var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var (bits, count) = (UInt64(0), 0)
    func put(_ value: UInt64, _ width: Int) {
      bits |= value << UInt64(count)
      count += width
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        count -= 8
      }
    }
    put(0b011, 3)  // the last block, with fixed codes
    let zero: (UInt64, Int) = (0b0000_1100, 8)  // 00110000, lowest bit first
    var left = memberSize
    put(zero.0, zero.1)
    left -= 1
    while left >= 258 {
      put(0b1010_0011, 8)  // 11000101: 258 bytes
      put(0, 5)  // from one byte back
      left -= 258
    }
    for _ in 0..<left { put(zero.0, zero.1) }
    put(0, 7)  // the end
    put(0, (8 - count) % 8)
    let sum: UInt32 = 0xa47c_a14a, size = UInt32(memberSize)
    for number in [sum, size] {
      for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    return bytes
  }()

  /// The output of brotli 1.2 with a window of 16 MB, which is repetitive.
  private static let brotli: [UInt8] = {
    let unit = """
      effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40\
      f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff7f002400e2b00074
      """
    let text =
      "cfffff7f002400e2b14072" + String(repeating: unit, count: 7)
      + "effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bff3f"
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
  }()

  /// A frame of blocks that repeat one byte (RFC 8878 §3.1.1), with a window of 8 MB.
  private static let zstd: [UInt8] = {
    let blockSize = 128 << 10
    var bytes: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x68]
    for left in (0..<size / blockSize).reversed() {
      let header = blockSize << 3 | 1 << 1 | (left == 0 ? 1 : 0)
      for shift in [0, 8, 16] { bytes.append(UInt8(truncatingIfNeeded: header >> shift)) }
      bytes.append(0)
    }
    return bytes
  }()
}
