#if !canImport(Darwin)
  import PortableFoundation

  /// The padding of a message: a one bit, zeros, and the length in bits, in blocks of 64 bytes.
  private enum Padding {
    static func blocks(_ message: [UInt8]) -> [ArraySlice<UInt8>] {
      var padded = message
      padded.append(0x80)
      while padded.count % 64 != 56 { padded.append(0) }
      let bits = UInt64(message.count) &* 8
      for index in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bits >> (8 * index))) }
      return stride(from: 0, to: padded.count, by: 64).map { padded[$0..<($0 + 64)] }
    }
  }

  /// MD5 (RFC 1321 §3), for servers that require it in signatures. It is not secure (RFC 6151).
  enum MD5 {
    /// The constants ⌊2³² · |sin(i + 1)|⌋ (RFC 1321 §3.4).
    private static let constants: [UInt32] = (0..<64).map { UInt32(abs(sin(Double($0 + 1))) * 4_294_967_296) }
    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

    static func hash(_ message: [UInt8]) -> [UInt8] {
      var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
      for block in Padding.blocks(message) {
        let words = (0..<16).map { index -> UInt32 in
          let at = block.startIndex + 4 * index
          return UInt32(block[at]) | UInt32(block[at + 1]) << 8 | UInt32(block[at + 2]) << 16 | UInt32(block[at + 3])
            << 24
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for index in 0..<64 {
          let (mix, word): (UInt32, Int) =
            switch index / 16 {
            case 0: ((b & c) | (~b & d), index)
            case 1: ((d & b) | (~d & c), (5 * index + 1) % 16)
            case 2: (b ^ c ^ d, (3 * index + 5) % 16)
            default: (c ^ (b | ~d), (7 * index) % 16)
            }
          let sum = a &+ mix &+ constants[index] &+ words[word]
          let shift = shifts[index / 16][index % 4]
          (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
      }
      return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    }
  }
#endif
