import NetLayer
import PortableFoundation

/// What `Demo get` takes out of an answer.
struct Reading: Sendable {
  /// What is printed.
  enum Content: Sendable {
    case json(Data)
    case text(String)
    case bytes(Data)
  }

  var status: Int
  var byteCount: Int
  /// The response's header fields, where they are to be shown.
  var headers: HTTPHeaders?
  var content: Content
  /// The bytes as they came, or the chosen value's.
  var raw: Data
  /// Where the next page begins.
  var cursor: String?

  /// - Throws: `NetworkError` where the answer has no envelope, a refusal in it, or nothing at the path.
  init(_ response: Response, _ options: GetOptions) throws {
    status = response.status
    byteCount = response.body.count
    headers = options.showsHeaders ? response.headers : nil
    guard options.envelope != nil || options.path != nil || options.followPages else {
      raw = response.body
      content = Self.content(of: response)
      return
    }
    let judged = options.envelope != nil || options.followPages
    let envelope = options.envelope ?? Envelope()
    let json = judged ? try response.common(envelope) : try response.json()
    if judged { cursor = Self.cursor(json[envelope.cursor]) }
    var value = judged ? json[envelope.data] : json
    if let path = options.path {
      value = json[path: path]
      guard value.exists else {
        throw NetworkError(
          kind: .parse, reason: "there is nothing at \(path.debugDescription)", response: response)
      }
    }
    let bytes = value.exists ? value.data : Data("null".utf8)
    content = .json(Self.compact(bytes))
    raw = bytes + Data("\n".utf8)
  }

  /// The text of a cursor; `nil` behind the last page.
  static func cursor(_ json: JSON) -> String? {
    switch json.kind {
    case .string: json.string.flatMap { $0.isEmpty ? nil : $0 }
    case .number: json.description
    default: nil
    }
  }

  private static func content(of response: Response) -> Content {
    if (try? JSON(response.body)) != nil { return .json(compact(response.body)) }
    if let text = try? response.text() { return .text(text) }
    return .bytes(response.body)
  }

  /// JSON without the white space between its tokens: a line of NDJSON must not break.
  static func compact(_ json: Data) -> Data {
    var result = Data(capacity: json.count)
    var inString = false
    var escaped = false
    // A byte order mark belongs to the text's beginning, not into a line's middle.
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
