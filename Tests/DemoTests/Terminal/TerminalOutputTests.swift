import LoopbackServer
import XCTest

/// The output on a terminal, as the user sees it.
final class TerminalOutputTests: XCTestCase {
  private func server() throws -> TestServer {
    try TestServer { request in
      switch request.path {
      case "/text": .text("no line break")
      case "/failure": .json(#"{"message":"taken"}"#, status: 422)
      default: .json(#"{"a":[1,{}],"b":"x:\"y\"","c":null,"d":[]}"#)
      }
    }
  }

  /// Returns what a terminal shows.
  private func screen(_ arguments: String..., environment: [String: String] = ["NO_COLOR": "1"]) throws -> String {
    let terminal = try Terminal()
    let run = try DemoProcess(arguments, terminal: terminal, environment: environment)
    let text = terminal.text()
    _ = run.wait()
    return text
  }

  func test_rawOutputWithoutLineBreak_isNotErasedByTheProgress() throws {
    let server = try server()
    let shown = Self.visible(try screen("get", "--raw", server.url("/text").absoluteString))
    XCTAssertEqual(shown.first, "no line break", "\(shown)")
    let two = Self.visible(
      try screen(
        "get", "--raw", "--concurrency=1", server.url("/text").absoluteString, server.url("/failure").absoluteString))
    XCTAssertEqual(two.prefix(2), ["no line break", #"{"message":"taken"}"#], "\(two)")
    XCTAssert(two.last?.hasPrefix("demo: ") == true && two.last?.contains("422") == true, "\(two)")
  }

  func test_json_isIndentedAndColored() throws {
    let server = try server()
    let url = server.url("/").absoluteString
    let plain = Self.visible(try screen("get", "--at", "a", url))
    XCTAssertEqual(plain.suffix(5), [#"  "body": ["#, "    1,", "    {}", "  ]", "}"], "\(plain)")
    let text = try screen("get", url)
    XCTAssertFalse(text.contains("\u{1B}[3"), text)
    let body = Self.visible(text).drop { !$0.contains("body") }
    XCTAssertEqual(
      Array(body),
      [
        #"  "body": {"#, #"    "a": ["#, "      1,", "      {}", "    ],", #"    "b": "x:\"y\"","#, #"    "c": null,"#,
        #"    "d": []"#, "  }", "}",
      ])
    let colored = try screen("get", url, environment: [:])
    XCTAssert(colored.contains("\u{1B}[36m\"a\"\u{1B}[0m: ["), colored)
    XCTAssert(colored.contains("\u{1B}[32m\"x:\\\"y\\\"\"\u{1B}[0m"), colored)
    XCTAssert(colored.contains("\u{1B}[33mnull\u{1B}[0m"), colored)
    let line = Self.visible(try screen("get", "--json", url))
    XCTAssertEqual(line.count, 1, "\(line)")
  }

  /// Returns the lines that are visible at the end: a small terminal with line breaks, carriage returns, and codes that
  /// erase from the cursor to the end of the line.
  private static func visible(_ text: String) -> [String] {
    var (lines, column) = ([[Character]()], 0)
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n":
        lines.append([])
        column = 0
      case "\u{1B}":
        let code = rest.prefix { !$0.properties.isAlphabetic }
        rest = rest.dropFirst(code.count)
        if rest.popFirst() == "K" { lines[lines.count - 1].removeSubrange(column...) }
      default:
        let line = lines.count - 1
        if column < lines[line].count {
          lines[line][column] = Character(scalar)
        } else {
          lines[line].append(Character(scalar))
        }
        column += 1
      }
    }
    return lines.map { String($0) }.filter { !$0.isEmpty }
  }
}
