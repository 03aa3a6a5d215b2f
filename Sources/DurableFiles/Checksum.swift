/// CRC-32 as in zlib and Ethernet (ISO 3309). It detects disk errors, not tampering.
package enum Checksum {
  /// Eight tables. Table k contains the effect of a byte on the sum k bytes later, so that one step processes eight
  /// bytes.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      tables[byte] = (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    for place in 256..<tables.count {
      let before = tables[place - 256]
      tables[place] = before >> 8 ^ tables[Int(before & 255)]
    }
    return tables
  }()

  /// Returns the checksum of `bytes`.
  package static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 { crc32(bytes, after: 0) }

  /// Returns the checksum of the bytes whose checksum is `start`, followed by `bytes`.
  static func crc32(_ bytes: UnsafeRawBufferPointer, after start: UInt32) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      var sum = ~start
      var place = 0
      while place + 8 <= bytes.count {
        let low = sum ^ UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
        let lower: UInt32 =
          tables[1792 + Int(low & 255)] ^ tables[1536 + Int(low >> 8 & 255)] ^ tables[1280 + Int(low >> 16 & 255)]
          ^ tables[1024 + Int(low >> 24)]
        let upper: UInt32 =
          tables[768 + Int(high & 255)] ^ tables[512 + Int(high >> 8 & 255)] ^ tables[256 + Int(high >> 16 & 255)]
          ^ tables[Int(high >> 24)]
        sum = lower ^ upper
        place += 8
      }
      while place < bytes.count {
        sum = sum >> 8 ^ tables[Int((sum ^ UInt32(bytes[place])) & 255)]
        place += 1
      }
      return ~sum
    }
  }
}
