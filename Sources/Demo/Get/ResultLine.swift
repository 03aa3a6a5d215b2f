import NetLayer
import PortableFoundation

/// One result of `Demo get` as a line of NDJSON.
struct ResultLine {
  /// The line, without its line break.
  let text: String
  /// The body alone.
  let raw: Data
  /// A description of the failure; `nil` for a success.
  let problem: String?
  var failed: Bool { problem != nil }

  init(url: String, reading: Reading, milliseconds: Double) {
    var line = Self.head(url, reading.status, milliseconds, reading.byteCount, reading.headers)
    if let cursor = reading.cursor { line = line.adding("cursor", cursor) }
    switch reading.content {
    case .json(let data): line = line.adding("body", json: String(decoding: data, as: UTF8.self))
    case .text(let text): line = line.adding("body", text)
    case .bytes(let data): line = line.adding("base64", data.base64EncodedString())
    }
    text = line.text
    raw = (reading.headers.map { Data(Self.text(of: $0, status: reading.status).utf8) } ?? Data()) + reading.raw
    problem = nil
  }

  init(url: String, error: any Error, milliseconds: Double, showsHeaders: Bool = false) {
    let error = Problem(error)
    let headers = showsHeaders ? error.headers : nil
    text = Self.head(url, error.status, milliseconds, error.byteCount, headers).adding("error", error.json).text
    raw = Data()
    problem = "\(url): \(error.text)"
  }

  private static func head(
    _ url: String, _ status: Int?, _ milliseconds: Double, _ bytes: Int, _ headers: HTTPHeaders?
  ) -> JSONLine {
    let line = JSONLine().adding("url", url).adding("status", status).adding("ms", milliseconds).adding("bytes", bytes)
    guard let headers else { return line }
    // As in curl's output, names are in lowercase, each with a list of values, because a field such as `Set-Cookie` may
    // be repeated.
    var names: [String] = []
    for field in headers where !names.contains(field.name.lowercased()) { names.append(field.name.lowercased()) }
    let members = names.reduce(JSONLine()) { line, name in
      line.adding(name, json: JSONLine.array(headers.values(of: name)))
    }
    return line.adding("headers", members)
  }

  private static func text(of headers: HTTPHeaders, status: Int) -> String {
    "HTTP \(status)\n" + headers.map { "\($0.name): \($0.value)".escapingControls() + "\n" }.joined() + "\n"
  }
}
