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

  /// The request for `call`. Method and header fields are not looked at here: every transport refuses those that would
  /// break the request. `accept` is the `Accept` field unless someone has set one.
  ///
  /// - Throws: `NetworkError` of kind `encoding` or `invalidRequest`, with the request as far as it was built.
  func request(for call: Call, accept: String? = nil) throws -> Request {
    let url = try call.target.url(below: call.baseURL ?? baseURL)
    var fields = headers.merging(call.headers)
    if let accept, fields["Accept"] == nil { fields["Accept"] = accept }
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
}
