import NetLayer
import PortableFoundation

/// The body of a response, as a member of a line of JSON.
enum Body: Sendable {
  /// JSON without whitespace between its tokens.
  case json(Data)
  case text(String)
  case bytes(Data)

  init(_ response: Response) {
    if (try? JSON(parsing: response.body)) != nil {
      self = .json(Self.compact(response.body))
    } else if let text = try? response.text() {
      self = .text(text)
    } else {
      self = .bytes(response.body)
    }
  }

  var text: String {
    switch self {
    case .json(let data): String(decoding: data, as: UTF8.self)
    case .text(let text): text
    case .bytes(let data): "\(data.count) bytes"
    }
  }

  func adding(to line: JSONLine) -> JSONLine {
    switch self {
    case .json(let data): line.adding("body", json: String(decoding: data, as: UTF8.self))
    case .text(let text): line.adding("body", text)
    case .bytes(let data): line.adding("base64", data.base64EncodedString())
    }
  }

  /// Returns JSON without whitespace between its tokens, because a line of NDJSON must not contain line breaks.
  static func compact(_ json: Data) -> Data {
    var result = Data(capacity: json.count)
    var inString = false
    var escaped = false
    // A byte order mark is allowed only at the start of a text, not within a line.
    for byte in json.starts(with: [0xEF, 0xBB, 0xBF]) ? json.dropFirst(3) : json {
      if inString {
        result.append(byte)
        if escaped {
          escaped = false
        } else if byte == UInt8(ascii: "\\") {
          escaped = true
        } else if byte == UInt8(ascii: "\"") {
          inString = false
        }
      } else if byte > 0x20 {
        result.append(byte)
        inString = byte == UInt8(ascii: "\"")
      }
    }
    return result
  }
}
