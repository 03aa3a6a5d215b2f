import PortableFoundation

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

  /// The bytes as hexadecimal digits in lower case, as most signatures are sent.
  public static func hex(_ bytes: Data) -> String { bytes.hex }
}

extension Data {
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
