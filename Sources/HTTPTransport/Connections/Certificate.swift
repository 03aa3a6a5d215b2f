import PortableFoundation

/// An X.509 certificate (RFC 5280 §4.1) and the pin of its key.
struct Certificate: Sendable, Hashable {
  let der: Data
  /// The pin of the public key.
  let pin: PublicKeyPin

  /// Creates a certificate; `nil` if `der` does not contain a public key.
  init?(der: Data) {
    guard let key = Self.subjectPublicKeyInfo(Array(der)) else { return nil }
    self.der = der
    pin = PublicKeyPin(subjectPublicKeyInfo: key)
  }

  /// Returns the certificates of a PEM text (RFC 7468 §5), in order; `nil` if one of them is not valid. Other text and
  /// blocks are ignored, as in OpenSSL.
  static func pem(_ text: Data) -> [Certificate]? {
    var certificates: [Certificate] = []
    var base64: String?
    for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let line = line.trimmingBlanks
      switch (line, base64) {
      case ("-----BEGIN CERTIFICATE-----", nil): base64 = ""
      case ("-----END CERTIFICATE-----", let text?):
        guard let certificate = Data(base64Encoded: text).flatMap(Certificate.init(der:)) else { return nil }
        certificates.append(certificate)
        base64 = nil
      case (_, let text?): base64 = text + line
      default: break
      }
    }
    // A block without an end has lost its rest.
    return base64 == nil ? certificates : nil
  }

  /// Returns the `subjectPublicKeyInfo` field of a certificate, unchanged, because a pin is the digest of its bytes
  /// (RFC 7469 §2.4).
  private static func subjectPublicKeyInfo(_ der: [UInt8]) -> ArraySlice<UInt8>? {
    var outer = DERReader(der[...])
    guard let certificate = outer.next(), certificate.tag == DERReader.sequence, outer.isAtEnd else { return nil }
    var inner = DERReader(certificate.content)
    guard let body = inner.next(), body.tag == DERReader.sequence else { return nil }
    var fields = DERReader(body.content)
    // Version 1 certificates omit the version.
    guard let first = fields.next(), first.tag != DERReader.version || fields.next() != nil else { return nil }
    // signature, issuer, validity, subject
    for _ in 0..<4 { guard fields.next()?.tag == DERReader.sequence else { return nil } }
    guard let key = fields.next(), key.tag == DERReader.sequence else { return nil }
    return key.whole
  }
}

/// A reader of consecutive values in DER (X.690 §8.1). It never reads beyond its bytes.
private struct DERReader {
  static let sequence: UInt8 = 0x30
  static let version: UInt8 = 0xA0

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// Returns the next value; `nil` if it is incomplete, or its length has more than four bytes.
  mutating func next() -> (tag: UInt8, whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
    let start = rest
    guard let tag = rest.popFirst(), let short = rest.popFirst() else { return nil }
    var length = Int(short)
    if short >= 0x80 {
      let count = Int(short & 0x7F)
      guard (1...4).contains(count), rest.count >= count else { return nil }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
    }
    guard length <= rest.count else { return nil }
    let content = rest.prefix(length)
    rest = rest.dropFirst(length)
    return (tag, start[..<content.endIndex], content)
  }
}
