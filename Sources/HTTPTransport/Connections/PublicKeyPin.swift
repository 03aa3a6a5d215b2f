import PortableFoundation

/// The pin of a public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
///
/// ```swift
/// let pin = try PublicKeyPin("sha256/7HIpactkIAq2Y49orFOOQKurWxmmSFZhBCoQYcRhJ3Y=")
/// ```
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
  /// The digest in base64, 44 characters.
  let base64: String

  /// Creates a pin from the base64 text of a SHA-256 digest, with or without the prefix `sha256/` (as in OkHttp) or
  /// `sha256//` (as in libcurl).
  ///
  /// - Throws: `NetworkError` of kind `tls` if the text is not such a digest.
  public init(_ text: String) throws(NetworkError) {
    // The length separates the prefix from the digest, because a digest may also begin with a slash.
    let digest = text.suffix(44)
    guard ["", "sha256/", "sha256//"].contains(text.dropLast(44)), let bytes = Data(base64Encoded: String(digest)),
      bytes.count == 32
    else {
      throw NetworkError(
        kind: .tls,
        reason: "the pin \(text.debugDescription) is not valid; use the base64 of a SHA-256 of 32 bytes, with or "
          + "without the prefix sha256/")
    }
    base64 = bytes.base64EncodedString()
  }

  /// Creates the pin of a key from its SubjectPublicKeyInfo in DER.
  init(subjectPublicKeyInfo key: ArraySlice<UInt8>) { base64 = Hash.sha256(Data(key)).base64EncodedString() }

  /// The prefix `sha256/`, followed by the digest in base64.
  public var description: String { "sha256/\(base64)" }
}
