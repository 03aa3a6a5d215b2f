import NetLayer
import PortableFoundation

/// One result of `Demo get` as a line of NDJSON.
struct ResultLine {
  /// The unchanged body, also that of a failure, with the header fields before it if they are printed.
  let raw: Data
  /// A description of the failure; `nil` for a success.
  let problem: String?
  private let line: JSONLine
  private let content: Body?
  var failed: Bool { problem != nil }

  /// The line, without its line break. Computed only when it is printed, because a large body takes long.
  var text: String { (content?.adding(to: line) ?? line).text }

  init(url: String, reading: Reading, milliseconds: Double) {
    let head = Self.head(
      url, reading.finalURL, reading.status, milliseconds, reading.byteCount, reading.headers)
    line = reading.cursor.map { head.adding("cursor", $0) } ?? head
    content = reading.content
    raw = Self.head(of: reading.headers, reading.status) + reading.raw
    problem = nil
  }

  init(url: String, error: any Error, milliseconds: Double, showsHeaders: Bool = false) {
    let error = Problem(error)
    let headers = showsHeaders ? error.headers : nil
    line = Self.head(url, error.finalURL, error.status, milliseconds, error.byteCount, headers).adding(
      "error", error.json)
    content = error.body
    raw = Self.head(of: headers, error.status) + error.rawBody
    problem = "\(url): \(error.text)"
  }

  private static func head(
    _ url: String, _ finalURL: String?, _ status: Int?, _ milliseconds: Double, _ bytes: Int, _ headers: HTTPHeaders?
  ) -> JSONLine {
    var line = JSONLine().adding("url", url)
    if let finalURL { line = line.adding("finalUrl", finalURL) }
    line = line.adding("status", status).adding("ms", milliseconds).adding("bytes", bytes)
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
  static func head(of headers: HTTPHeaders?, _ status: Int?) -> Data {
    guard let headers, let status else { return Data() }
    let fields = headers.map { "\($0.name): \($0.value)".escapingControls() + "\n" }
    return Data(("HTTP \(status)\n" + fields.joined() + "\n").utf8)
  }
}
