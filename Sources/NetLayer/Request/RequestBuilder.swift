import Foundation

/// What is to be called, before the back end's share is added.
struct Call: Sendable {
  /// The call's own base, over the back end's.
  var baseURL: URL?
  var target: any URLConvertible
  var method: HTTPMethod
  var task: HTTPTask
  var headers: HTTPHeaders

  init(_ endpoint: some Endpoint) {
    baseURL = endpoint.baseURL
    target = endpoint.path
    method = endpoint.method
    task = endpoint.task
    headers = endpoint.headers
  }

  init(
    _ method: HTTPMethod, _ target: any URLConvertible, parameters: Parameters?, encoding: any ParameterEncoder,
    headers: HTTPHeaders
  ) {
    self.target = target
    self.method = method
    task = parameters.map { .parameters($0, encoding: encoding) } ?? .plain
    self.headers = headers
  }
}

/// Makes the request that goes to the transport, or says why there is none (article row 2.13).
struct RequestBuilder: Sendable {
  var baseURL: URL?
  var headers: HTTPHeaders = [:]
  var commonParameters: @Sendable () -> Parameters = { [:] }
  var timeouts = Request.Timeouts()

  /// The request for `call`; `accept` is the `Accept` field unless someone has set one.
  ///
  /// - Throws: `NetworkError` of kind `encoding` or `invalidRequest`, with the request as far as it was built.
  func request(for call: Call, accept: String? = nil) throws -> Request {
    let url = try call.target.url(below: call.baseURL ?? baseURL)
    var fields = headers.merging(call.headers)
    if let accept, fields["Accept"] == nil { fields["Accept"] = accept }
    try check(call.method, fields)
    var request = Request(method: call.method, url: url, headers: fields, timeouts: timeouts)
    do {
      try encode(call.task, into: &request)
    } catch var error as NetworkError {
      error.request = error.request ?? request
      throw error
    } catch {
      throw NetworkError(
        kind: .encoding, reason: "the parameters cannot be encoded: \(error)", request: request, underlying: error)
    }
    return request
  }

  private func encode(_ task: HTTPTask, into request: inout Request) throws {
    let common = commonParameters()
    switch task {
    case .plain:
      try URLParameterEncoder().encode(common, into: &request)
    case .data(let data, let contentType):
      try URLParameterEncoder(destination: .query).encode(common, into: &request)
      request.body = .data(data)
      if let contentType, request.headers["Content-Type"] == nil { request.headers["Content-Type"] = contentType }
    case .parameters(let own, let encoding):
      try encoding.encode(own.over(common), into: &request)
    case .composite(let query, let body, let encoding):
      try URLParameterEncoder(destination: .query).encode(query.over(common), into: &request)
      try encoding.encode(body, into: &request)
    case .json(let value):
      try JSONParameterEncoder().encode(Parameters(value).over(common), into: &request)
    case .form(let own):
      try URLParameterEncoder(destination: .body).encode(own.over(common), into: &request)
    }
  }

  /// A line break in a header would begin another one, or another request (RFC 9110 §5.5).
  private func check(_ method: HTTPMethod, _ fields: HTTPHeaders) throws {
    guard Self.isToken(method.rawValue) else {
      throw NetworkError(kind: .invalidRequest, reason: "no HTTP method: \(method.rawValue.debugDescription)")
    }
    for field in fields {
      guard Self.isToken(field.name) else {
        throw NetworkError(kind: .invalidRequest, reason: "no header name: \(field.name.debugDescription)")
      }
      guard field.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
        throw NetworkError(
          kind: .invalidRequest, reason: "the value of the header \(field.name) has a control character")
      }
    }
  }

  /// RFC 9110 §5.6.2.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default:
          "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
