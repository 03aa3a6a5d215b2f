import XCTest

@testable import JSONText

final class JSONScannerTests: XCTestCase {
  private func failure(_ bytes: [UInt8], file: StaticString = #filePath, line: UInt = #line) -> JSONError? {
    do {
      _ = try JSON(parsing: Data(bytes))
      XCTFail("accepted \(String(decoding: bytes, as: UTF8.self))", file: file, line: line)
    } catch let error as JSONError {
      return error
    } catch {
      XCTFail("\(error)", file: file, line: line)
    }
    return nil
  }

  private func assertFails(
    _ text: String, _ kind: JSONError.Kind, at offset: Int, file: StaticString = #filePath, line: UInt = #line
  ) {
    let error = failure(Array(text.utf8), file: file, line: line)
    XCTAssertEqual(error?.kind, kind, text, file: file, line: line)
    XCTAssertEqual(error?.offset, offset, text, file: file, line: line)
  }

  func test_everyKindOfValueMayBeTheRoot() throws {
    for text in [
      "{}", "[]", "\"\"", "0", "-0", "-1.5e-7", "1E+2", "true", "false", "null", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n",
      "[[],{},[{}]]", #"{"":{"":""}}"#, #""\u00e9\uD83D\uDE00\/\b\f\n\r\t\\\"""#, "\u{FEFF}{}", "\"网络😀é\u{7F}\"",
    ] {
      XCTAssertNoThrow(try JSON(parsing: text), text)
    }
  }

  func test_anErrorNamesTheByteWhereTheTextStopsBeingJSON() {
    assertFails("", .empty, at: 0)
    assertFails("  \n", .empty, at: 0)
    assertFails("{", .unexpectedEnd, at: 1)
    assertFails("[1,2", .unexpectedEnd, at: 4)
    assertFails("\"abc", .unexpectedEnd, at: 4)
    assertFails("{\"a\"", .unexpectedEnd, at: 4)
    assertFails("tru", .unexpectedEnd, at: 3)
    assertFails("[1,]", .unexpectedCharacter, at: 3)
    assertFails("{\"a\":1,}", .unexpectedCharacter, at: 7)
    assertFails("{a:1}", .unexpectedCharacter, at: 1)
    assertFails("{\"a\" 1}", .unexpectedCharacter, at: 5)
    assertFails("[1 2]", .unexpectedCharacter, at: 3)
    assertFails("[1}", .unexpectedCharacter, at: 2)
    assertFails("{\"a\":1]", .unexpectedCharacter, at: 6)
    assertFails("'a'", .unexpectedCharacter, at: 0)
    assertFails("nul1", .unexpectedCharacter, at: 3)
    assertFails("{} {}", .trailingContent, at: 3)
    assertFails("NaN", .unexpectedCharacter, at: 0)
  }

  func test_numbersFollowTheGrammar() {
    assertFails("01", .invalidNumber, at: 0)
    assertFails("[-]", .invalidNumber, at: 1)
    assertFails("[1.]", .invalidNumber, at: 1)
    assertFails("[1e]", .invalidNumber, at: 1)
    assertFails("1e+", .unexpectedEnd, at: 3)
    assertFails("+1", .unexpectedCharacter, at: 0)
    assertFails(".5", .unexpectedCharacter, at: 0)
  }

  func test_stringsRefuseControlCharactersAndBadEscapes() {
    assertFails("\"a\nb\"", .controlCharacter, at: 2)
    assertFails("\"01234567\u{1}\"", .controlCharacter, at: 9)
    assertFails(#""\x""#, .invalidEscape, at: 1)
    assertFails(#""\u12G4""#, .invalidEscape, at: 1)
    assertFails(#"["\uD800\x"]"#, .invalidEscape, at: 8)
    assertFails(#""\uD800\u12G4""#, .invalidEscape, at: 7)
    assertFails(#""\uD800"#, .unexpectedEnd, at: 7)
  }

  func test_halvesOfPairsAreFoundInTheString() throws {
    for (text, offset) in [(#""\uD800""#, 1), (#""\uD800\u0041""#, 1), (#""ab\uDC00\uDC00""#, 3)] {
      XCTAssertEqual(try fault(Data(text.utf8)), JSONError(.loneSurrogate, at: offset))
    }
    XCTAssertNil(try fault(Data(#""\uD83D\uDE00é""#.utf8)))
  }

  private func fault(_ data: Data) throws -> JSONError? {
    let json = try JSON(parsing: data)
    return json.document.read { $0.fault($0.word(0)) }
  }

  func test_bytesThatAreNotUTF8AreFoundInTheString() throws {
    for bytes: [UInt8] in [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE4, 0xBD], [0xFF], [0xC3, 0x28],
    ] {
      XCTAssertEqual(try fault(Data([0x22, 0x61] + bytes + [0x22])), JSONError(.invalidUTF8, at: 2, byte: bytes[0]))
      XCTAssertEqual(failure(bytes)?.kind, .unexpectedCharacter, "outside of strings they are no JSON")
    }
  }

  func test_512LevelsAreReadAnd513AreAnErrorOnASmallStack() throws {
    let outcome = onSmallStack {
      let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
      let tooDeep = String(repeating: "{\"a\":", count: 100_000)
      return (Result { try JSON(parsing: deep).count }, Result { try JSON(parsing: tooDeep).count })
    }
    XCTAssertEqual(try outcome.0.get(), 1)
    XCTAssertThrowsError(try outcome.1.get()) { error in
      XCTAssertEqual((error as? JSONError)?.kind, .tooDeep)
      XCTAssertEqual((error as? JSONError)?.offset, 512 * 5)
    }
  }

  func test_aTextOf1GBIsTooLong() throws {
    // The system provides the zeros only when they are read.
    var data = Data(count: 1 << 30)
    data.replaceSubrange(..<4, with: "    ".utf8)
    XCTAssertThrowsError(try JSON(parsing: data)) { XCTAssertEqual(($0 as? JSONError)?.kind, .tooLong) }
  }

  func test_theErrorSaysWhatAndWhere() throws {
    XCTAssertThrowsError(try JSON(parsing: "[1,x]")) { XCTAssertEqual("\($0)", "unexpected character 'x' at byte 3") }
    XCTAssertThrowsError(try JSON(parsing: "\"\u{2}\"")) {
      XCTAssertEqual("\($0)", "unescaped control character in a string 0x2 at byte 1")
    }
  }
}
