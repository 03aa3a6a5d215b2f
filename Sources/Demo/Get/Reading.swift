import NetLayer
import PortableFoundation

/// The part of a response that `Demo get` prints.
struct Reading: Sendable {
  /// The content to print.
  enum Content: Sendable {
    case json(Data)
    case text(String)
    case bytes(Data)
  }

  var status: Int
  var byteCount: Int
  /// The header fields of the response; `nil` unless they are printed.
  var headers: HTTPHeaders?
  var content: Content
  /// The unchanged bytes of the body, or of the selected value.
  var raw: Data
  /// The cursor of the next page.
  var cursor: String?

  /// - Throws: `NetworkError` if the response has no envelope, an envelope with an error code, or no value at the path.
  init(_ response: Response, _ options: GetOptions) throws {
    status = response.status
    byteCount = response.body.count
    headers = options.showsHeaders ? response.headers : nil
    guard options.envelope != nil || options.path != nil || options.followPages else {
      raw = response.body
      content = Self.content(of: response)
      return
    }
    let hasEnvelope = options.envelope != nil || options.followPages
    let envelope = options.envelope ?? Envelope()
    let json = hasEnvelope ? try response.common(envelope) : try response.json()
    if hasEnvelope { cursor = Self.cursor(json[envelope.cursor]) }
    var value = hasEnvelope ? json[envelope.data] : json
    if let path = options.path {
      value = json[at: path]
      guard value.exists else {
        throw NetworkError(
          kind: .parse, reason: "the response has no value at \(path.debugDescription)", response: response)
      }
    }
    let bytes = value.exists ? value.data : Data("null".utf8)
    content = .json(Self.compact(bytes))
    raw = bytes + Data("\n".utf8)
  }

  /// Returns the text of a cursor; `nil` after the last page.
  static func cursor(_ json: JSON) -> String? {
    switch json.kind {
    case .string: json.string.flatMap { $0.isEmpty ? nil : $0 }
    case .number: json.description
    default: nil
    }
  }

  private static func content(of response: Response) -> Content {
    if (try? JSON(parsing: response.body)) != nil { return .json(compact(response.body)) }
    if let text = try? response.text() { return .text(text) }
    return .bytes(response.body)
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
