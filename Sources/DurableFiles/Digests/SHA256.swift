#if !canImport(Darwin)
  /// An incremental SHA-256 (FIPS 180-4 §6.2).
  package struct SHA256 {
    /// The fractional bits of the cube roots of the first 64 primes, computed exactly with integers.
    private static let constants: [UInt32] = primes(64).map { fraction(ofRoot: 3, $0) }
    /// The fractional bits of the square roots of the first 8 primes.
    private static let start: [UInt32] = primes(8).map { fraction(ofRoot: 2, $0) }

    private var state = Self.start
    private var words = [UInt32](repeating: 0, count: 64)
    /// The bytes that do not yet fill a block of 64 bytes.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    package init() {}

    /// Returns the digest of `message`.
    static func hash(_ message: [UInt8]) -> [UInt8] {
      var digest = SHA256()
      message.withUnsafeBytes { digest.update($0) }
      return digest.finish()
    }

    /// Adds `bytes` to the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
      count &+= UInt64(bytes.count)
      var bytes = bytes[...]
      if !rest.isEmpty {
        let missing = bytes.prefix(64 - rest.count)
        rest.append(contentsOf: missing)
        bytes = bytes.dropFirst(missing.count)
        guard rest.count == 64 else { return }
        rest.withUnsafeBytes { Self.mix($0, into: &state, &words) }
        rest.removeAll(keepingCapacity: true)
      }
      while bytes.count >= 64 {
        Self.mix(UnsafeRawBufferPointer(rebasing: bytes.prefix(64)), into: &state, &words)
        bytes = bytes.dropFirst(64)
      }
      rest.append(contentsOf: bytes)
    }

    /// Returns the 32 bytes of the digest. Call it once, after the last update.
    package mutating func finish() -> [UInt8] {
      let bits = count &* 8
      var padding: [UInt8] = [0x80]
      while (rest.count + padding.count) % 64 != 56 { padding.append(0) }
      padding += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
      padding.withUnsafeBytes { update($0) }
      return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
    }

    private static func mix(_ block: UnsafeRawBufferPointer, into state: inout [UInt32], _ words: inout [UInt32]) {
      state.withUnsafeMutableBufferPointer { state in
        words.withUnsafeMutableBufferPointer { words in
          constants.withUnsafeBufferPointer { constants in
            for index in 0..<16 {
              words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
            for index in 16..<64 {
              let (a, b) = (words[index - 15], words[index - 2])
              let small = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)
              let large = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10)
              words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for index in 0..<64 {
              let first =
                h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ ((e & f) ^ (~e & g)) &+ constants[index]
                &+ words[index]
              let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
              (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            (state[0], state[1], state[2], state[3]) = (state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d)
            (state[4], state[5], state[6], state[7]) = (state[4] &+ e, state[5] &+ f, state[6] &+ g, state[7] &+ h)
          }
        }
      }
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

    /// Returns the first 32 fractional bits of the square or cube root: the largest x with x^n ≤ p · 2^(32n), without
    /// its integer part.
    private static func fraction(ofRoot degree: Int, _ prime: UInt64) -> UInt32 {
      var root: UInt64 = 0
      for bit in (0..<36).reversed() {
        let candidate = root | 1 << UInt64(bit)
        if power(candidate, degree, isAtMost: prime) { root = candidate }
      }
      return UInt32(truncatingIfNeeded: root)
    }

    /// Returns whether `value`^`degree` ≤ `prime` · 2^(32 · `degree`), computed with 128 bits.
    private static func power(_ value: UInt64, _ degree: Int, isAtMost prime: UInt64) -> Bool {
      let wide = UInt128(value)
      let result = degree == 2 ? wide * wide : wide * wide * wide
      return result <= UInt128(prime) << UInt128(32 * degree)
    }
  }
#endif
