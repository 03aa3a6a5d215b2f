import Foundation
import NetLayer

/// One result of `Demo get` as a line of NDJSON.
struct ResultLine {
  /// The line, without its end.
  let text: String
  /// The body alone.
  let raw: Data
  /// What went wrong, for people; `nil` if nothing did.
  let problem: String?
  var failed: Bool { problem != nil }

  init(url: String, reading: Reading, milliseconds: Double) {
    var line = Self.head(url, reading.status, milliseconds, reading.byteCount)
    if let cursor = reading.cursor { line += ",\"cursor\":" + Self.quoted(cursor) }
    switch reading.content {
    case .json(let data): line += ",\"body\":" + String(decoding: data, as: UTF8.self)
    case .text(let text): line += ",\"body\":" + Self.quoted(text)
    case .bytes(let data): line += ",\"base64\":" + Self.quoted(data.base64EncodedString())
    }
    text = line + "}"
    raw = reading.raw
    problem = nil
  }

  init(url: String, error: any Error, milliseconds: Double) {
    let error =
      error as? NetworkError
      ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
    var line = Self.head(url, error.response?.status, milliseconds, error.response?.body.count ?? 0)
    line += ",\"error\":{\"kind\":\(Self.quoted(error.kind.rawValue)),\"code\":\(error.code)"
    line += ",\"message\":\(Self.quoted(error.message)),\"reason\":\(Self.quoted(error.reason))"
    if !error.codingPath.isEmpty { line += ",\"path\":\(Self.quoted(error.codingPath.joined(separator: ".")))" }
    text = line + "}}"
    raw = Data()
    problem = "\(url): \(error.kind) \(error.code): \(error.reason)"
  }

  private static func head(_ url: String, _ status: Int?, _ milliseconds: Double, _ bytes: Int) -> String {
    "{\"url\":\(quoted(url)),\"status\":\(status.map(String.init) ?? "null"),\"ms\":\(milliseconds),\"bytes\":\(bytes)"
  }

  private static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}
