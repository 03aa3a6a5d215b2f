import JSONText
import PortableFoundation

/// The bodies of an archive. Browsers and proxies store them decoded, in several forms that no field names.
extension HARReader {
  /// The fields that describe the coded body, which an archive does not contain.
  private static let codedFields = ["Content-Encoding", "Content-Length", "Transfer-Encoding"]

  /// Reads the header fields and the body of a response.
  static func readBody(_ json: JSON, into entry: inout HAREntry) {
    let content = json["response"]["content"]
    var headers = fields(json["response"]["headers"])
    let isCoded = headers["Content-Encoding"] != nil
    for name in codedFields { headers[name] = nil }
    defer { entry.responseHeaders = headers }
    let text = content["text"].string
    if text == nil, content["_file"].string != nil {
      entry.missingBody = "its bodies are in other files; record with embedded bodies"
      return
    }
    entry.fullCount = json["_truncated"].int.map { max(content["size"].int ?? 0, $0) }
    guard let text else {
      entry.body = Data(entry.events.map(\.stream).joined().utf8)
      if content["text"].kind == .string { entry.missingBody = "a body is not valid Unicode" }
      return
    }
    if content["encoding"].string == "base64" {
      guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
        entry.missingBody = "a body is not valid base64"
        return
      }
      entry.body = bytes
    } else if !isCoded, entry.fullCount == nil, let bytes = bytes(text, count: content["size"].int) {
      entry.body = bytes
    } else {
      entry.body = Data(text.utf8)
      changeCharset(of: &headers, text)
    }
  }

  /// Returns the bytes of a body that is stored as one scalar for each byte: they are `count`, which is not the number of
  /// bytes in UTF-8. Returns `nil` for any other text.
  private static func bytes(_ text: String, count: Int?) -> Data? {
    let scalars = text.unicodeScalars
    guard let count, count != text.utf8.count, scalars.count == count, scalars.allSatisfy({ $0.value < 256 }) else {
      return nil
    }
    return Data(scalars.map { UInt8(truncatingIfNeeded: $0.value) })
  }

  /// Changes the charset of a text that is now UTF-8.
  private static func changeCharset(of headers: inout HTTPHeaders, _ text: String) {
    guard let value = headers["Content-Type"] else { return }
    let type = MediaType(value)
    guard let charset = type.parameter("charset")?.lowercased(), charset != "utf-8" else { return }
    // Every other charset extends ASCII.
    guard !text.utf8.allSatisfy({ $0 < 128 }) || charset.hasPrefix("utf-") || charset.hasPrefix("ucs") else { return }
    let parts = type.parts.map { MediaType.name($0) == "charset" ? "charset=utf-8" : String($0).trimming { $0 == " " } }
    headers["Content-Type"] = parts.joined(separator: "; ")
  }

  /// Returns the body of a request. A text that may differ from the bytes that were sent is unknown.
  ///
  /// - Parameter isOwn: Whether this package has written the archive. Other writers omit bodies of forms and files.
  static func sentBody(_ request: JSON, _ headers: HTTPHeaders, isOwn: Bool) -> HAREntry.SentBody {
    let data = request["postData"]
    let size = request["bodySize"].int ?? -1
    guard data.kind == .object else {
      let mayHaveBody = !isOwn && ["POST", "PUT", "PATCH"].contains(request["method"].string)
      return mayHaveBody || (isOwn ? size != 0 : size > 0) ? .unknown : .none
    }
    let type = data["mimeType"].string ?? headers["Content-Type"] ?? ""
    if let digest = data["_sha256"].string { return .digest(digest, count: max(0, size), type: type) }
    guard let text = data["text"].string, !text.isEmpty || size == 0, !text.unicodeScalars.contains(where: isBinary)
    else {
      return .unknown
    }
    return text.isEmpty ? .none : .text(text, type: type)
  }

  /// Returns whether a text with this scalar stands for binary data, whose bytes its writer has changed.
  private static func isBinary(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10, 13: false
    case 0..<0x20, 0x7F...0x9F, 0xFFFD: true
    default: false
    }
  }
}

extension HAREntry.Event {
  /// The event as a server sends it.
  fileprivate var stream: String {
    func line(_ name: String, _ value: String) -> String {
      "\(name): \(value.filter { !$0.isNewline })\n"
    }
    let data = data.split(separator: "\n", omittingEmptySubsequences: false).map { line("data", String($0)) }.joined()
    return (id.isEmpty ? "" : line("id", id)) + (name.isEmpty || name == "message" ? "" : line("event", name)) + data
      + "\n"
  }
}
