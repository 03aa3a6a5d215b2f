import PortableFoundation

extension String.Encoding {
  /// Creates the encoding of a charset, by one of its labels in lowercase (WHATWG Encoding §4.2); `nil` if it is unknown.
  init?(label: String) {
    guard let encoding = Self.charsets[label] else { return nil }
    self = encoding
  }

  private static let charsets = Dictionary(
    uniqueKeysWithValues: labels.flatMap { encoding, labels in
      labels.split(whereSeparator: \.isWhitespace).map { (String($0), encoding) }
    })

  /// ASCII and ISO 8859-1 are charsets of their own here, and not Windows-1252 as in browsers.
  private static let labels: [(String.Encoding, String)] = [
    (.utf8, "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
    (.ascii, "ansi_x3.4-1968 ascii us-ascii"),
    (
      .isoLatin1,
      """
      cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1
      """
    ),
    (.isoLatin2, "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
    (
      coreFoundation(0x0203),
      "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
    ),
    (
      coreFoundation(0x0204),
      "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
    ),
    (
      coreFoundation(0x0205),
      "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
    ),
    (
      coreFoundation(0x0206),
      """
      arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127
      iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
      """
    ),
    (
      coreFoundation(0x0207),
      """
      csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987
      sun_eu_greek
      """
    ),
    (
      coreFoundation(0x0208),
      """
      csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso-ir-138 iso8859-8 iso88598
      iso_8859-8 iso_8859-8:1988 logical visual
      """
    ),
    (coreFoundation(0x020A), "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
    (coreFoundation(0x020D), "iso-8859-13 iso8859-13 iso885913"),
    (coreFoundation(0x020E), "iso-8859-14 iso8859-14 iso885914"),
    (coreFoundation(0x020F), "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
    (coreFoundation(0x0210), "iso-8859-16"),
    (coreFoundation(0x0A02), "cskoi8r koi koi8 koi8-r koi8_r"),
    (coreFoundation(0x0A08), "koi8-ru koi8-u"),
    (coreFoundation(0x0000), "csmacintosh mac macintosh x-mac-roman"),
    (coreFoundation(0x0007), "x-mac-cyrillic x-mac-ukrainian"),
    (coreFoundation(0x041D), "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
    (.windowsCP1250, "cp1250 windows-1250 x-cp1250"),
    (.windowsCP1251, "cp1251 windows-1251 x-cp1251"),
    (.windowsCP1252, "cp1252 windows-1252 x-cp1252"),
    (.windowsCP1253, "cp1253 windows-1253 x-cp1253"),
    (
      .windowsCP1254,
      """
      cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254
      x-cp1254
      """
    ),
    (coreFoundation(0x0505), "cp1255 windows-1255 x-cp1255"),
    (coreFoundation(0x0506), "cp1256 windows-1256 x-cp1256"),
    (coreFoundation(0x0507), "cp1257 windows-1257 x-cp1257"),
    (coreFoundation(0x0508), "cp1258 windows-1258 x-cp1258"),
    (.utf16, "utf-16"),
    (.utf16LittleEndian, "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16le"),
    (.utf16BigEndian, "unicodefffe utf-16be"),
    (.utf32, "utf-32"),
    // With the extensions of Windows, as in browsers.
    (shiftJIS, "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
    (.japaneseEUC, "cseucpkdfmtjapanese euc-jp x-euc-jp"),
    (.iso2022JP, "csiso2022jp iso-2022-jp"),
    // GB 18030 includes the others, and servers declare any of them (WHATWG Encoding, "gbk").
    (
      coreFoundation(0x0632), "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"
    ),
    (coreFoundation(0x0A03), "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
    (
      coreFoundation(0x0940),
      """
      cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
      """
    ),
  ]

  private static let shiftJIS = coreFoundation(0x0420)

  /// Returns an encoding that Foundation knows only by its number in `CFStringEncodingExt.h`.
  private static func coreFoundation(_ number: UInt) -> String.Encoding {
    String.Encoding(rawValue: 0x8000_0000 | number)
  }

  /// Decodes `bytes`; returns `nil` for invalid bytes, and in a program without the decoder.
  func text(of bytes: Data) -> String? {
    #if !canImport(Darwin)
      if self == .japaneseEUC { return Self.japaneseEUCText(bytes) }
    #endif
    return self == .utf8 ? String(validating: bytes, as: UTF8.self) : String(data: bytes, encoding: self)
  }

  #if !canImport(Darwin)
    /// Decodes EUC-JP, which Foundation on Linux does not know, as Shift JIS, which has the same characters in another order.
    /// Returns `nil` for invalid bytes, and for the supplementary characters of JIS X 0212.
    private static func japaneseEUCText(_ bytes: Data) -> String? {
      var other = Data(capacity: bytes.count)
      var bytes = bytes[...]
      while let first = bytes.popFirst() {
        if first < 0x80 {
          other.append(first)
          continue
        }
        guard let second = bytes.popFirst(), 0xA1...0xFE ~= second else { return nil }
        switch first {
        case 0x8E where second <= 0xDF: other.append(second)
        case 0xA1...0xFE:
          let row = first - 0xA1
          other.append(row / 2 + (row < 62 ? 0x81 : 0xC1))
          // Two rows share a first byte. 0x7F is not a second byte.
          other.append(row % 2 == 1 ? second - 2 : second - (second < 0xE0 ? 0x61 : 0x60))
        default: return nil
        }
      }
      return String(data: other, encoding: shiftJIS)
    }
  #endif
}
