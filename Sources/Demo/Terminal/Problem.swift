import NetLayer
import PortableFoundation

/// An error, as text or as JSON.
struct Problem {
  private let error: NetworkError

  init(_ error: any Error) {
    self.error = error as? NetworkError ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
  }

  var status: Int? { error.response?.status }
  var headers: HTTPHeaders? { error.response?.headers }
  /// The body of the response; `nil` if there is none.
  var body: Body? { error.response.flatMap { $0.body.isEmpty ? nil : Body($0) } }
  var rawBody: Data { error.response?.body ?? Data() }
  var byteCount: Int { rawBody.count }
  private var reason: String { error.failureReason ?? error.reason }
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
