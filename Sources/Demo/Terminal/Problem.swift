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
  var text: String { "\(error.kind) \(error.code): \(error.reason)" }

  var json: JSONLine {
    let line = JSONLine().adding("kind", error.kind.rawValue).adding("code", error.code)
      .adding("message", error.message).adding("reason", error.reason)
    return error.codingPath.isEmpty ? line : line.adding("path", error.codingPath.joined(separator: "."))
  }
}
