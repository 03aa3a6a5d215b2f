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
    (.windowsCP1250, "cp1250 windows-1250 x-cp1250"),
    (.windowsCP1251, "cp1251 windows-1251 x-cp1251"),
    (.windowsCP1252, "cp1252 windows-1252 x-cp1252"),
    (.utf16, "utf-16"),
    (.utf16LittleEndian, "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16le"),
    (.utf16BigEndian, "unicodefffe utf-16be"),
    (.utf32, "utf-32"),
    // With the extensions of Windows, as in browsers.
    (coreFoundation(0x0420), "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
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

  /// Returns an encoding that Foundation knows only by its number in `CFStringEncodingExt.h`.
  private static func coreFoundation(_ number: UInt) -> String.Encoding {
    String.Encoding(rawValue: 0x8000_0000 | number)
  }
}
