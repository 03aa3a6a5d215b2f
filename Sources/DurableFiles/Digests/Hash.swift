import PortableFoundation

/// The digests for the signatures of JSON APIs, without a dependency.
///
/// They process data in memory. MD5 is not secure (RFC 6151); it is provided for servers that require it.
public enum Hash {
  /// Returns the 32 bytes of the SHA-256 digest (FIPS 180-4).
  public static func sha256(_ data: Data) -> Data { Data(SHA256.hash(Array(data))) }

  /// Returns the 32 bytes of the HMAC-SHA-256 (RFC 2104).
  public static func hmacSHA256(_ data: Data, key: Data) -> Data {
    let block = 64
    var padded = key.count > block ? SHA256.hash(Array(key)) : Array(key)
    padded += [UInt8](repeating: 0, count: block - padded.count)
    let inner = SHA256.hash(padded.map { $0 ^ 0x36 } + Array(data))
    return Data(SHA256.hash(padded.map { $0 ^ 0x5C } + inner))
  }

  /// Returns the 16 bytes of the MD5 digest (RFC 1321).
  public static func md5(_ data: Data) -> Data { Data(MD5.hash(Array(data))) }

  /// Returns the bytes as lowercase hexadecimal digits, as most signatures are sent.
  public static func hex(_ bytes: Data) -> String { bytes.hex }

  /// Returns the bytes of hexadecimal digits in any case, such as a published SHA-256; `nil` for any other text.
  public static func bytes(hex text: String) -> Data? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  /// Returns whether both are equal, in a time that depends only on their lengths: for the signature of a webhook, whose
  /// bytes a sender could guess one by one from the time that `==` takes.
  public static func isEqual(_ a: Data, _ b: Data) -> Bool {
    var difference: UInt8 = 0
    for (x, y) in zip(a, b) { difference |= x ^ y }
    return a.count == b.count && difference == 0
  }
}

extension Data {
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
