import PortableFoundation

/// One exchange of real traffic, as a recording keeps it: a line of JSON.
struct RecordedCall: Codable, Sendable {
  struct Field: Codable, Sendable {
    var name: String
    var value: String
  }

  var method: String
  /// The URL without secrets, by which requests are matched.
  var url: String
  /// The request's body without secrets, by which requests are matched too: as text, as a digest of what is no text, empty
  /// where there is none; `nil` where it was not in memory, and in recordings before 0.2.
  var sent: String?
  var status: Int?
  var headers: [Field] = []
  /// The body as text where it is some, else in base64.
  var text: String?
  var base64: String?
  /// The kind and reason of a failure.
  var failure: String?
  var reason: String?

  init(_ request: Request, _ result: Result<Response, NetworkError>, redaction: Redaction) {
    method = request.method.rawValue
    url = redaction.url(request.url)
    sent = Self.text(of: request, redaction: redaction)
    switch result {
    case .success(let response):
      status = response.status
      headers = redaction.headers(response.headers).map { Field(name: $0.name, value: $0.value) }
      if let body = String(validating: response.body, as: UTF8.self) {
        text = redaction.text(body)
      } else {
        base64 = response.body.base64EncodedString()
      }
    case .failure(let error):
      failure = error.kind.rawValue
      reason = redaction.text(error.reason)
    }
  }

  /// The body as it is recorded and matched; a multipart body without its random boundary.
  private static func text(of request: Request, redaction: Redaction) -> String? {
    let bytes: Data
    switch request.body {
    case .none: return ""
    case .data(let data): bytes = data
    case .parts(let parts):
      var joined = Data()
      for part in parts {
        guard case .data(let data) = part else { return nil }
        joined += data
      }
      bytes = joined
    case .file, .stream: return nil
    }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      return "sha256:" + Digest.sha256(bytes).hex
    }
    if let boundary = request.headers["Content-Type"]?.components(separatedBy: "boundary=").dropFirst().first {
      let name = boundary.prefix { $0 != ";" }.trimming { $0 == "\"" || $0 == " " }
      if !name.isEmpty { text = text.replacing(name, with: "boundary") }
    }
    return redaction.text(text)
  }

  /// What requests that this exchange answers have in common.
  var key: RecordedResponses.Key { .init(method: method, url: url, body: sent) }

  var answer: StubTransport.StubbedResponse {
    if let failure {
      return .failure(NetworkError.Kind(rawValue: failure), reason: reason ?? "recorded failure")
    }
    let fields = HTTPHeaders(headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
    let body = base64.flatMap { Data(base64Encoded: $0) } ?? Data((text ?? "").utf8)
    return .response(status: status ?? 200, headers: fields, body: body)
  }
}

extension RecordedCall {
  /// What a replay looks for.
  static func key(of request: Request, redaction: Redaction) -> RecordedResponses.Key {
    .init(
      method: request.method.rawValue, url: redaction.url(request.url), body: text(of: request, redaction: redaction))
  }
}

/// The answers of a recording by method, URL and body, secrets aside.
struct RecordedResponses: Sendable {
  struct Key: Hashable, Sendable {
    var method: String
    var url: String
    var body: String?
  }

  private let redaction: Redaction
  private let answers: [Key: StubTransport.StubbedResponse]

  /// - Throws: `NetworkError` of kind `file` when the file can't be read or is no recording.
  init(_ file: URL, redaction: Redaction) throws(NetworkError) {
    self.redaction = redaction
    var lists: [Key: [StubTransport.StubbedResponse]] = [:]
    do {
      for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
        let exchange = try JSONDecoder().decode(RecordedCall.self, from: line)
        lists[exchange.key, default: []].append(exchange.answer)
      }
    } catch {
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be read: \(error)", underlying: error)
    }
    answers = lists.mapValues(StubTransport.StubbedResponse.sequence)
  }

  /// The answer to `request`: what was recorded for its body, or else for a body that the recording does not know.
  subscript(request: Request) -> StubTransport.StubbedResponse? {
    var key = RecordedCall.key(of: request, redaction: redaction)
    if let answer = answers[key] { return answer }
    key.body = nil
    return answers[key]
  }
}
