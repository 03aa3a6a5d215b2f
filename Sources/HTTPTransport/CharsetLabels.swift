import PortableFoundation

extension String.Encoding {
  /// Creates the encoding of a charset, by one of its labels in lowercase; `nil` if it is unknown.
  package init?(label: String) {
    guard let encoding = Self.charsets[label] else { return nil }
    self = encoding
  }

  private static let charsets = Dictionary(
    uniqueKeysWithValues: labels.flatMap { encoding, labels in
      labels.split(separator: " ").map { (String($0), encoding) }
    })

  /// ASCII and ISO 8859-1 are charsets of their own here, and not Windows-1252 as in browsers.
  private static let labels: [(String.Encoding, String)] = [
    (.utf8, "utf-8 utf8"),
    (.utf16, "utf-16"),
    (.utf16LittleEndian, "utf-16le"),
    (.utf16BigEndian, "utf-16be"),
    (.utf32, "utf-32"),
    (.ascii, "us-ascii ascii"),
    (.isoLatin1, "iso-8859-1 iso8859-1 iso_8859-1 latin1"),
    (.isoLatin2, "iso-8859-2 iso8859-2 latin2"),
    (coreFoundation(0x0205), "iso-8859-5"),
    (coreFoundation(0x0206), "iso-8859-6"),
    (coreFoundation(0x0207), "iso-8859-7"),
    (coreFoundation(0x0208), "iso-8859-8"),
    (coreFoundation(0x020F), "iso-8859-15 iso8859-15"),
    (coreFoundation(0x041D), "windows-874 tis-620"),
    (.windowsCP1250, "windows-1250 cp1250"),
    (.windowsCP1251, "windows-1251 cp1251"),
    (.windowsCP1252, "windows-1252 cp1252"),
    (.windowsCP1253, "windows-1253 cp1253"),
    (.windowsCP1254, "windows-1254 cp1254 iso-8859-9 iso8859-9 latin5"),
    (coreFoundation(0x0505), "windows-1255 cp1255"),
    (coreFoundation(0x0506), "windows-1256 cp1256"),
    (coreFoundation(0x0507), "windows-1257 cp1257"),
    (coreFoundation(0x0508), "windows-1258 cp1258"),
    (coreFoundation(0x0A02), "koi8-r"),
    (coreFoundation(0x0A08), "koi8-u"),
    // With the extensions of Windows, as in browsers.
    (coreFoundation(0x0420), "shift_jis sjis x-sjis windows-31j"),
    // GB 18030 includes the others, and servers declare any of them (WHATWG Encoding, "gbk").
    (coreFoundation(0x0632), "gb18030 gbk gb2312 x-gbk"),
    (coreFoundation(0x0A03), "big5"),
    (coreFoundation(0x0940), "euc-kr"),
  ]

  /// Returns an encoding that Foundation knows only by its number in `CFStringEncodingExt.h`.
  private static func coreFoundation(_ number: UInt) -> String.Encoding {
    String.Encoding(rawValue: 0x8000_0000 | number)
  }

  /// Decodes `bytes`; returns `nil` for invalid bytes, and in a program without the decoder.
  package func text(of bytes: Data) -> String? {
    self == .utf8 ? String(validating: bytes, as: UTF8.self) : String(data: bytes, encoding: self)
  }
}
