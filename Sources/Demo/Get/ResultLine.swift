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
    if let cursor = reading.cursor { line = line.adding("cursor", cursor) }
    switch reading.content {
    case .json(let data): line = line.adding("body", json: String(decoding: data, as: UTF8.self))
    case .text(let text): line = line.adding("body", text)
    case .bytes(let data): line = line.adding("base64", data.base64EncodedString())
    }
    text = line.text
    raw = reading.raw
    problem = nil
  }

  init(url: String, error: any Error, milliseconds: Double) {
    let error = Problem(error)
    text = Self.head(url, error.status, milliseconds, error.byteCount).adding("error", error.json).text
    raw = Data()
    problem = "\(url): \(error.text)"
  }

  private static func head(_ url: String, _ status: Int?, _ milliseconds: Double, _ bytes: Int) -> JSONLine {
    JSONLine().adding("url", url).adding("status", status).adding("ms", milliseconds).adding("bytes", bytes)
  }
}
