#if !canImport(Darwin)
  /// SHA-1 (FIPS 180-4 §6.1), only for the WebSocket handshake (RFC 6455 §4.2.2). It is not secure.
  package enum SHA1 {
    /// Returns the 20 bytes of the digest of `message`.
    package static func hash(_ message: [UInt8]) -> [UInt8] {
      var padded = message
      padded.append(0x80)
      while padded.count % 64 != 56 { padded.append(0) }
      withUnsafeBytes(of: (UInt64(message.count) &* 8).bigEndian) { padded.append(contentsOf: $0) }
      var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
      for start in stride(from: 0, to: padded.count, by: 64) {
        var words = padded.withUnsafeBytes { bytes in
          (0..<16).map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 4 * $0, as: UInt32.self)) }
        }
        for index in 16..<80 {
          words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
          let (mix, constant): (UInt32, UInt32) =
            switch index / 20 {
            case 0: ((b & c) | (~b & d), 0x5A82_7999)
            case 1: (b ^ c ^ d, 0x6ED9_EBA1)
            case 2: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
            default: (b ^ c ^ d, 0xCA62_C1D6)
            }
          let next = rotate(a, 5) &+ mix &+ e &+ constant &+ word
          (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
      }
      return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
  }
#endif
