import NetLayer

/// An error, as text or as JSON.
struct Problem {
  private let error: NetworkError

  init(_ error: any Error) {
    self.error = error as? NetworkError ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
  }

  var status: Int? { error.response?.status }
  var headers: HTTPHeaders? { error.response?.headers }
  var byteCount: Int { error.response?.body.count ?? 0 }
  private var reason: String { error.failureReason ?? error.reason }
  var text: String { "\(error.kind) \(error.code): \(reason)" }

  var json: JSONLine {
    let line = JSONLine().adding("kind", error.kind.rawValue).adding("code", error.code)
      .adding("message", error.message).adding("reason", reason)
    return error.codingPath.isEmpty ? line : line.adding("path", error.codingPath.joined(separator: "."))
  }
}
