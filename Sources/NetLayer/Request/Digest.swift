import Foundation

/// The digests that signatures of JSON APIs use, without a dependency.
///
/// For signatures and checksums of what is in memory. MD5 is broken as a protection (RFC 6151) and is here for servers
/// that ask for it.
public enum Digest {
  /// The 32 bytes of SHA-256 (FIPS 180-4).
  public static func sha256(_ data: Data) -> Data { Data(SHA256.hash(Array(data))) }

  /// The 32 bytes of HMAC-SHA-256 (RFC 2104).
  public static func hmacSHA256(_ data: Data, key: Data) -> Data {
    let block = 64
    var padded = key.count > block ? SHA256.hash(Array(key)) : Array(key)
    padded += [UInt8](repeating: 0, count: block - padded.count)
    let inner = SHA256.hash(padded.map { $0 ^ 0x36 } + Array(data))
    return Data(SHA256.hash(padded.map { $0 ^ 0x5C } + inner))
  }

  /// The 16 bytes of MD5 (RFC 1321).
  public static func md5(_ data: Data) -> Data { Data(MD5.hash(Array(data))) }
}

extension Data {
  /// The bytes as hexadecimal digits in lower case.
  public var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// The message in blocks of 64 bytes, padded with a one bit, zeros and the length in bits, as both digests want it.
private enum Padding {
  static func blocks(_ message: [UInt8], bigEndianLength: Bool) -> [ArraySlice<UInt8>] {
    var padded = message
    padded.append(0x80)
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) &* 8
    for index in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bits >> (8 * (bigEndianLength ? 7 - index : index)))) }
    return stride(from: 0, to: padded.count, by: 64).map { padded[$0..<($0 + 64)] }
  }
}

private enum SHA256 {
  /// The fractional bits of the cube roots of the first 64 primes, computed rather than copied: exact in integers.
  private static let constants: [UInt32] = primes(64).map { fraction(ofRoot: 3, $0) }
  /// The fractional bits of the square roots of the first 8 primes.
  private static let start: [UInt32] = primes(8).map { fraction(ofRoot: 2, $0) }

  static func hash(_ message: [UInt8]) -> [UInt8] {
    var state = start
    var words = [UInt32](repeating: 0, count: 64)
    for block in Padding.blocks(message, bigEndianLength: true) {
      for index in 0..<16 {
        let at = block.startIndex + 4 * index
        words[index] =
          UInt32(block[at]) << 24 | UInt32(block[at + 1]) << 16 | UInt32(block[at + 2]) << 8 | UInt32(block[at + 3])
      }
      for index in 16..<64 {
        let (a, b) = (words[index - 15], words[index - 2])
        let small = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)
        let large = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10)
        words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
      }
      var s = state
      for index in 0..<64 {
        let mix = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)
        let choice = (s[4] & s[5]) ^ (~s[4] & s[6])
        let first = s[7] &+ mix &+ choice &+ constants[index] &+ words[index]
        let turn = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)
        let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])
        s = [first &+ turn &+ majority, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
      }
      for index in 0..<8 { state[index] = state[index] &+ s[index] }
    }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

  private static func primes(_ count: Int) -> [UInt64] {
    var found: [UInt64] = []
    var next: UInt64 = 2
    while found.count < count {
      if found.allSatisfy({ next % $0 != 0 }) { found.append(next) }
      next += 1
    }
    return found
  }

  /// The first 32 fractional bits of the square or cube root: the largest x with x^n ≤ p · 2^(32n), less its whole part.
  private static func fraction(ofRoot degree: Int, _ prime: UInt64) -> UInt32 {
    var root: UInt64 = 0
    for bit in (0..<36).reversed() {
      let candidate = root | 1 << UInt64(bit)
      if power(candidate, degree, isAtMost: prime) { root = candidate }
    }
    return UInt32(truncatingIfNeeded: root)
  }

  /// Whether `value`^`degree` ≤ `prime` · 2^(32 · `degree`), in 128 bits.
  private static func power(_ value: UInt64, _ degree: Int, isAtMost prime: UInt64) -> Bool {
    let wide = UInt128(value)
    let result = degree == 2 ? wide * wide : wide * wide * wide
    return result <= UInt128(prime) << UInt128(32 * degree)
  }
}

private enum MD5 {
  /// ⌊2³² · |sin(i + 1)|⌋ (RFC 1321 §3.4).
  private static let constants: [UInt32] = (0..<64).map { UInt32(abs(sin(Double($0 + 1))) * 4_294_967_296) }
  private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

  static func hash(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    for block in Padding.blocks(message, bigEndianLength: false) {
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
