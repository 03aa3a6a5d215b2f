import PortableFoundation

#if canImport(CLibcurl)
  import CLibcurl
#endif

/// The gzip format (RFC 1952) of request bodies.
package enum Gzip {
  /// Returns `data` in the gzip format; `nil` without zlib or memory.
  package static func compress(_ data: Data) -> Data? {
    guard let deflated = deflate(data) else { return nil }
    // No name, no time, an unknown file system.
    var file = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
    file += deflated
    let sum = data.withUnsafeBytes { Checksum.crc32($0) }
    for number in [sum, UInt32(truncatingIfNeeded: data.count)] {
      withUnsafeBytes(of: number.littleEndian) { file += $0 }
    }
    return file
  }

  #if canImport(CLibcurl)
    private static func deflate(_ data: Data) -> Data? {
      guard let pair = cdeflate_make() else { return nil }
      defer { cdeflate_free(pair) }
      var output = Data()
      var chunk = Data(count: 1 << 16)
      let isWhole = data.withUnsafeBytes { bytes in
        var input = bytes
        while true {
          let step = chunk.withUnsafeMutableBytes {
            cdeflate_compress(pair, input.baseAddress, input.count, $0.baseAddress, $0.count)
          }
          guard !step.is_broken else { return false }
          output += chunk.prefix(step.produced)
          input = UnsafeRawBufferPointer(rebasing: input[step.consumed...])
          if input.isEmpty, step.produced < chunk.count { return true }
        }
      }
      // The blocks end on a byte boundary; an empty last block follows (RFC 1951 §3.2.3).
      return isWhole ? output + [0x03, 0x00] : nil
    }
  #else
    private static func deflate(_ data: Data) -> Data? { try? (data as NSData).compressed(using: .zlib) as Data }
  #endif
}
