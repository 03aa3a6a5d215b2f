/// JSON as a terminal shows it: indented, with colors if the terminal allows them.
enum IndentedJSON {
  /// The depth up to which lines are indented. Without a limit, the indentation of deep JSON could be 1,000 times its size.
  private static let maxDepth = 40

  /// Returns `json`, which must be valid and have no whitespace between its tokens, with a line for each value.
  static func text(_ json: String, _ style: Style) -> String {
    var (result, rest, depth) = ("", json.utf8[...], 0)
    func lineBreak() -> String { "\n" + String(repeating: "  ", count: min(depth, maxDepth)) }
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        result += take(1)
        if rest.first == UInt8(ascii: "}") || rest.first == UInt8(ascii: "]") {
          result += take(1)
        } else {
          depth += 1
          result += lineBreak()
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        result += lineBreak() + take(1)
      case UInt8(ascii: ","): result += take(1) + lineBreak()
      case UInt8(ascii: ":"): result += take(1) + " "
      case UInt8(ascii: "\""):
        let text = take(stringLength(rest))
        result += rest.first == UInt8(ascii: ":") ? style.cyan(text) : style.green(text)
      default: result += style.yellow(take(rest.prefix { !",]}".utf8.contains($0) }.count))
      }
    }
    return result

    func take(_ count: Int) -> String {
      defer { rest = rest.dropFirst(count) }
      return String(decoding: rest.prefix(count), as: UTF8.self)
    }
  }

  /// Returns the number of bytes of the string at the start of `json`, with its quotation marks.
  private static func stringLength(_ json: Substring.UTF8View) -> Int {
    var (count, isEscaped) = (1, false)
    for byte in json.dropFirst() {
      count += 1
      if byte == UInt8(ascii: "\""), !isEscaped { return count }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return count
  }
}
