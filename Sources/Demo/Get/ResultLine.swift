import NetLayer
import PortableFoundation

/// One result of `Demo get` as a line of NDJSON.
struct ResultLine {
  /// The line, without its line break.
  let text: String
  /// The unchanged body, also that of a failure, with the header fields before it if they are printed.
  let raw: Data
  /// A description of the failure; `nil` for a success.
  let problem: String?
  var failed: Bool { problem != nil }

  init(url: String, reading: Reading, milliseconds: Double) {
    var line = Self.head(url, reading.status, milliseconds, reading.byteCount, reading.headers)
    if let cursor = reading.cursor { line = line.adding("cursor", cursor) }
    text = reading.content.adding(to: line).text
    raw = Self.head(of: reading.headers, reading.status) + reading.raw
    problem = nil
  }

  init(url: String, error: any Error, milliseconds: Double, showsHeaders: Bool = false) {
    let error = Problem(error)
    let headers = showsHeaders ? error.headers : nil
    text = error.adding(to: Self.head(url, error.status, milliseconds, error.byteCount, headers)).text
    raw = Self.head(of: headers, error.status) + error.rawBody
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

  /// Returns the lines before the body; empty unless header fields are printed.
  private static func head(of headers: HTTPHeaders?, _ status: Int?) -> Data {
    guard let headers, let status else { return Data() }
    let fields = headers.map { "\($0.name): \($0.value)".escapingControls() + "\n" }
    return Data(("HTTP \(status)\n" + fields.joined() + "\n").utf8)
  }
}
