import NetLayer
import PortableFoundation

/// A recorded call: a request, and its response or error. Each call is one line of JSON.
struct RecordedCall: Codable, Sendable {
  struct Field: Codable, Sendable {
    var name: String
    var value: String
  }

  var method: String
  /// The URL without secrets, used to match requests.
  var url: String
  /// The request's body without secrets, also used to match requests: as text, as a digest if it is not text, and empty
  /// without a body. `nil` if the body was not in memory, and in recordings before version 0.2.
  var sent: String?
  var status: Int?
  var headers: [Field] = []
  /// The body as text if it is valid UTF-8, otherwise as base64.
  var text: String?
  var base64: String?
  /// The kind and reason of a failure.
  var failure: String?
  var reason: String?

  init(_ request: Request, _ result: Result<Response, NetworkError>, redaction: Redaction) {
    method = request.method.rawValue
    url = redaction.redacted(request.url)
    sent = Self.text(of: request, redaction: redaction)
    switch result {
    case .success(let response):
      status = response.status
      headers = redaction.redacted(response.headers).map { Field(name: $0.name, value: $0.value) }
      let body = redaction.bytes(response.body)
      text = String(validating: body, as: UTF8.self)
      if text == nil { base64 = Data(body).base64EncodedString() }
    case .failure(let error):
      failure = error.kind.rawValue
      reason = redaction.redacted(error.reason)
    }
  }

  /// Returns the body as it is recorded and matched. The random boundary of a multipart body is normalized.
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
      return "sha256:" + HTTPDigest.sha256(Data(redaction.bytes(bytes))).hex
    }
    if let boundary = request.headers["Content-Type"]?.components(separatedBy: "boundary=").dropFirst().first {
      let name = boundary.prefix { $0 != ";" }.trimming { $0 == "\"" || $0 == " " }
      if !name.isEmpty { text = text.replacing(name, with: "boundary") }
    }
    return redaction.redacted(text)
  }

  /// Returns the properties that a request must share with this call to be matched. The redaction may have more rules
  /// than at the time of the recording.
  func key(_ redaction: Redaction) -> RecordedResponses.Key {
    .init(method: method, url: redaction.redacted(url), body: sent.map { redaction.redacted($0) })
  }

  var stubbed: StubTransport.StubbedResponse {
    if let failure {
      return .failure(NetworkError.Kind(rawValue: failure), reason: reason ?? "recorded failure")
    }
    let fields = HTTPHeaders(headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
    let body = base64.flatMap { Data(base64Encoded: $0) } ?? Data((text ?? "").utf8)
    return .response(status: status ?? 200, headers: fields, body: body)
  }
}

extension RecordedCall {
  /// Returns the key to look up for `request`.
  static func key(of request: Request, redaction: Redaction) -> RecordedResponses.Key {
    .init(
      method: request.method.rawValue, url: redaction.redacted(request.url),
      body: text(of: request, redaction: redaction))
  }
}

/// The responses of a recording by method, URL and body, without secrets.
struct RecordedResponses: Sendable {
  struct Key: Hashable, Sendable {
    var method: String
    var url: String
    var body: String?
  }

  private let redaction: Redaction
  private let responses: [Key: StubTransport.StubbedResponse]

  /// - Throws: `NetworkError` of kind `file` if the file can't be read or is not a recording.
  init(_ file: URL, redaction: Redaction) throws(NetworkError) {
    self.redaction = redaction
    var lists: [Key: [StubTransport.StubbedResponse]] = [:]
    do {
      for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
        let call = try JSONDecoder().decode(RecordedCall.self, from: line)
        lists[call.key(redaction), default: []].append(call.stubbed)
      }
    } catch {
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be read: \(error)", underlying: error)
    }
    responses = lists.mapValues(StubTransport.StubbedResponse.sequence)
  }

  /// Returns the response to `request`: the one recorded for its body, or a response that was recorded without a body
  /// to compare.
  subscript(request: Request) -> StubTransport.StubbedResponse? {
    var key = RecordedCall.key(of: request, redaction: redaction)
    if let response = responses[key] { return response }
    key.body = nil
    return responses[key]
  }
}
