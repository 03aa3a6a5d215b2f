import NetLayer
import PortableFoundation

/// An error, as text or as JSON.
struct Problem {
  private let error: NetworkError

  init(_ error: any Error) {
    self.error = error as? NetworkError ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
  }

  var status: Int? { error.response?.status }
  var finalURL: String? { error.response?.finalURL }
  var headers: HTTPHeaders? { error.response?.headers }
  var body: Body? { error.response.flatMap { $0.body.isEmpty ? nil : Body($0) } }
  var rawBody: Data { error.response?.body ?? Data() }
  var byteCount: Int { rawBody.count }
  private var reason: String {
    Self.remedies.reduce(error.failureReason ?? error.reason) { $0.replacing($1.library, with: $1.command) }
  }

  /// The remedies of the library, whose API a user of the command line can't reach, and the options for them.
  private static let remedies: [(library: String, command: String)] = [
    (
      "raise Request.Options.maxBodySize, or CurlTransport.Configuration.maxBodySize for all requests",
      "pass --raw or -o FILE, with one URL"
    ),
    ("raise Request.Options.maxBodySize", "pass --raw or -o FILE, with one URL"),
    ("raise maxBodySize", "pass --raw or -o FILE, with one URL"),
    (
      "for an API without envelopes, set envelope: .none",
      "for a list without an envelope, use Demo pages --by link; for a plain response, omit --envelope and --follow-pages"
    ),
    ("set envelope: .standard on the backend", "pass --envelope code,message,data"),
    ("set envelope: .graphQL on the backend", "pass --at data"),
    ("give the path of the array, as in list(at: \"items\")", "give the path of the array with --at"),
    ("check `pages` of .number", "check PAGES of --by number"),
    ("raise the limit or check the server", "raise --timeout or check the server"),
  ]
  var text: String { "\(error.kind) \(error.code): \(reason)" }

  /// Adds the error, and the body of its response.
  func adding(to line: JSONLine) -> JSONLine {
    let line = line.adding("error", json)
    return body?.adding(to: line) ?? line
  }

  var json: JSONLine {
    let line = JSONLine().adding("kind", error.kind.rawValue).adding("code", error.code)
      .adding("message", error.message).adding("reason", reason)
    return error.codingPath.isEmpty ? line : line.adding("path", error.codingPath.joined(separator: "."))
  }
}
