import JSONText
import XCTest

/// The cases of the JSONTestSuite (seriot.ch/projects/parsing_json.html): texts that every parser must accept (`y_`) or
/// reject (`n_`), and texts for which the parser decides (`i_`), with the choice of this package.
final class JSONConformanceTests: XCTestCase {
  private func accepts(_ bytes: some Collection<UInt8>) -> Bool { (try? JSON(parsing: Data(bytes))) != nil }

  /// Returns the bytes of a text in which each character represents one byte.
  private func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

  func test_whatMustBeAcceptedIs() {
    let texts = [
      "[[]   ]", "[]", #"[""]"#, "[\"a\"]\n", "[false]", #"[null, 1, "1", {}]"#, "[null]", "[1\n]", " [1]",
      "[1,null,null,null,2]", "[2] ", "[0e+1]", "[0e1]", "[ 4]",
      "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]", "[20e1]", "[123e65]",
      "[-0]", "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]", "[123]",
      "[123.456789]", #"{"asd":"sdf"}"#, #"{"a":"b","a":"b"}"#, #"{"a":"b","a":"c"}"#, "{}", #"{"":0}"#,
      #"{"foo\u0000bar": 42}"#, #"{ "min": -1.0e+28, "max": 1.0e+28 }"#, #"{"asd":"sdf", "dfg":"fgh"}"#,
      #"{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#,
      #"{"a":[]}"#, #"{"title":"\u041f\u043e\u043b\u0442 \u0417\u0435\u043c" }"#, "{\n\"a\": \"b\"\n}",
      #"["\u0060\u012a\u12AB"]"#, #"["\uD801\udc37"]"#, #"["\ud83d\ude39\ud83d\udc8d"]"#, #"["\"\\\/\b\f\n\r\t"]"#,
      #"["\\u0000"]"#, #"["\""]"#, #"["a/*b*/c/*d//e"]"#, #"["\\a"]"#, #"["\\n"]"#, #"["\u0012"]"#, #"["\uFFFF"]"#,
      #"["asd"]"#, #"[ "asd"]"#, #"["\uDBFF\uDFFF"]"#, #"["new\u00A0line"]"#, "[\"\u{10FFFF}\"]", "[\"\u{FFFF}\"]",
      #"["\u0000"]"#, #"["\u002c"]"#, "[\"π\"]", "[\"\u{1BFFF}\"]", #"["asd "]"#, "\" \"", #"["\uD834\uDd1e"]"#,
      #"["\u0821"]"#, #"["\u0123"]"#, "[\"\u{2028}\"]", "[\"\u{2029}\"]", #"["new\u000Aline"]"#,
      #"["\u0061\u30af\u30EA\u30b9"]"#, "[\"\u{7F}\"]", "[\"⍂㈴⍂\"]", #"["\u005C"]"#, #"["\u0022"]"#, #"["\uA66D"]"#,
      #"["\uDBFF\uDFFE"]"#, #"["\uD83F\uDFFE"]"#, #"["\u200B"]"#, #"["\u2064"]"#, #"["\uFDD0"]"#, #"["\uFFFE"]"#,
      "[\"€𝄞\"]", "[\"a\u{7F}a\"]", "false", "42", "-0.1", "null", "\"asd\"", "true", "\"\"", "[\"a\"]\n", "[true]",
      " [] ",
    ]
    for text in texts { XCTAssertTrue(accepts(text.utf8), text) }
  }

  func test_whatMustBeRefusedIs() {
    let structures = [
      "[1 true]", #"["": 1]"#, #"[""],"#, "[,1]", "[1,,2]", #"["x",,]"#, #"["x"]]"#, #"["",]"#, "[x", #"["x""#,
      "[3[4]]",
      "[1:2]", "[,]", "[-]", #"[   , ""]"#, "[\"a\",\n4\n,1,", "[1,]", "[1,,]", "[\"\u{B}a\"\\f]", "[*]", #"[""#, "[1,",
      "[1,\n1\n,1", "[{}", "[fals]", "[nul]", "[tru]", "123\0", #"["x", truth]"#, #"{[: "x"}"#, #"{"x", null}"#,
      #"{"x"::"b"}"#, "{🇨🇭}", #"{"a":"a" 123}"#, "{key: 'value'}", #"{"a" b}"#, #"{:"b"}"#, #"{"a" "b"}"#, #"{"a":"#,
      #"{"a""#, "{9999E9999:1}", "{1:1}", "{null:null,null:null}", #"{"id":0,,,,,}"#, "{'a':0}", #"{"id":0,}"#,
      #"{"a":"b"}/**/"#, #"{"a":"b"}/**//"#, #"{"a":"b"}//"#, #"{"a":"b"}/"#, #"{"a":"b",,"c":"d"}"#, #"{a: "b"}"#,
      #"{"a":"a"#, #"{ "foo" : "bar", "a" }"#, #"{"a":"b"}#"#, " ", "", "<.>", "[<null>]", "[1]x", "[1]]", #"["asd]"#,
      "aå", "[True]", "1]", #"{"x": true,"#, "[][]", "]", "[", "[\0]", "2@", "{}}", #"{"":"#,
      #"{"a":/*comment*/"b"}"#, #"{"a": true} "x""#, "['", "[,", "[{", #"["a"#, #"["a""#, "{]", "{,", "{", "{[",
      #"{"a"#,
      "{'a'", ##"["\{["\{["\{["\{"##, "é", "*", ##"{"a":"b"}#{}"##, "[\u{2060}]", #"[\u000A""]"#, "[1", "[ false, nul",
      "[ true, fals", "[ false, tru", #"{"asd":"asd""#, "å", "\u{FEFF}", "[\u{C}]",
      String(repeating: "[", count: 100_000), String(repeating: "[{\"\":", count: 50_000),
    ]
    for text in structures { XCTAssertFalse(accepts(text.utf8), String(text.prefix(80))) }
    let numbers = [
      "0.1.2", "-01", "0.3e", "0.3e+", "0E", "0E+", "0.e1", "0e", "0e+", "1 000.0", "1.0e-", "1.0e", "1.0e+", "-1.0.",
      "1eE2", ".-1", "+1", ".2e-3", "2.e-3", "2.e+3", "2.e3", "-2.", "9.e+", "1+2", "0x1", "0x42", "Infinity", "+Inf",
      "Inf", "0e+-1", "-123.123foo", "++1234", "-Infinity", "-foo", "- 1", "-NaN", "NaN", "-012", "-.123", "-1x", "1ea",
      "1.", ".123", "１", "1.8011670033376514H-308", "1.2a-3", "012", "00.0", "-00.0", "00e0", "-00e0",
    ]
    for text in numbers { XCTAssertFalse(accepts("[\(text)]".utf8), text) }
    let strings = [
      #"\uD800\"#, #"\uD800\u1"#, #"\uD800\u1x"#, #"\uD800\u"#, "\0", #"\\\"#, "\\\t", "\\🌀", #"\x00"#, #"\u00A"#,
      #"\"#,
      #"\uD800\uD800\x"#, #"\uD834\uDd"#, #"\a"#, #"\uqqqq"#, "a\0a", "new\nline", "\t", #"\UA66D"#, "\u{1F}", #"\012"#,
    ]
    for text in strings { XCTAssertFalse(accepts("[\"\(text)\"]".utf8), text) }
    let bare = [
      "[é]", #"[\u0020"asd"]"#, #"[\n]"#, "\"", "['single quote']", "abc", #"["\"#, #""\UA66D""#, #"""x"#,
    ]
    for text in bare { XCTAssertFalse(accepts(text.utf8), text) }
  }

  func test_whatIsNoUTF8IsRefusedAndInAStringWhenThatIsRead() {
    let texts = [
      "[a\u{E5}]", "[\u{FF}]", "[123\u{E5}]", "[1e1\u{E5}]", "[0\u{E5}]", "[1e\u{E5}]", "{\"\u{B9}\":\"0\",}", "\u{E5}",
      "[\"\\u\u{E5}\"]", "[\"\\\u{E5}\"]", "\u{EF}\u{BB}{}",
    ]
    for text in texts { XCTAssertFalse(accepts(bytes(text)), text) }
    // Parsers may accept or reject these. This parser never treats an invalid string as Unicode.
    let strings = [
      "[\"\u{FF}\"]", "[\"\u{E9}\"]", "[\"\u{81}\"]", "[\"\u{F4}\u{BF}\u{BF}\u{BF}\"]", "[\"\u{C0}\u{AF}\"]",
      "[\"\u{FC}\u{83}\u{BF}\u{BF}\u{BF}\u{BF}\"]", "[\"\u{FC}\u{80}\u{80}\u{80}\u{80}\u{80}\"]", "[\"\u{E0}\u{FF}\"]",
      "[\"\u{E6}\u{97}\u{A5}\u{D1}\u{88}\u{FA}\"]", "[\"\u{ED}\u{A0}\u{80}\"]",
    ]
    for text in strings { XCTAssertNil(try JSON(parsing: Data(bytes(text)))[0].string, text) }
  }

  func test_whatIsLeftToTheParserIsDecidedAsDocumented() throws {
    // Numbers of any size are valid JSON; the range is checked when they are read.
    for text in [
      "123.456e-789", "0.4e0066999999999999999999999999999999999999999999999999999999999999999999969999999006",
      "-1e+9999", "1.5e+9999", "-123123e100000", "123123e100000", "123e-10000000",
    ] {
      let number = try JSON(parsing: "[\(text)]")[0]
      XCTAssertEqual(number.kind, .number)
      XCTAssertNil(number.double, text)
      XCTAssertNil(number.int, text)
    }
    XCTAssertEqual(try JSON(parsing: "[100000000000000000000]")[0].double, 1e20)
    XCTAssertNil(try JSON(parsing: "[-237462374673276894279832749832423479823246327846]")[0].int)
    for text in [
      #"["\uDADA"]"#, #"["\uD888\u1234"]"#, #"["\uD800\n"]"#, #"["\uDd1ea"]"#, #"["\uD800\uD800\n"]"#,
      #"["\ud800"]"#, #"["\ud800abc"]"#, #"["\uDd1e\uD834"]"#, #"["\uDFAA"]"#,
    ] { XCTAssertNil(try JSON(parsing: text)[0].string, text) }
    XCTAssertTrue(accepts(#"{"\uDFAA":0}"#.utf8))
    XCTAssertTrue(accepts((String(repeating: "[", count: 500) + String(repeating: "]", count: 500)).utf8))
    XCTAssertTrue(accepts("\u{FEFF}{}".utf8))
    XCTAssertTrue(accepts(bytes("\0[\0\"\0\u{E9}\0\"\0]")), "UTF-16, big endian")
    XCTAssertTrue(accepts(bytes("[\0\"\0\u{E9}\0\"\0]\0")), "UTF-16, little endian")
    XCTAssertTrue(accepts(bytes("\u{FF}\u{FE}[\0\"\0\u{E9}\0\"\0]\0")), "UTF-16 with its mark")
  }
}
