import PortableFoundation

package final class RequestBuilder: Sendable {
  let baseURL: URL?
  let headers: HTTPHeaders
  let commonParameters: @Sendable () -> Parameters
  let timeouts: Request.Timeouts
  let options: Request.OptionsBox?
  let signer: (any Signer)?
  package let conventions: EncodingConventions
  private let base: BaseURL?
  /// The backend's own origin. Secrets of the backend are sent to no other origin.
  private let origin: Origin?
  /// The context of every request, and of every request to the backend's own origin.
  private let context: Context
  private let ownContext: Context
  /// The header fields of most requests: the backend's fields, and `Accept: application/json` unless the backend has an
  /// `Accept` field.
  private let jsonHeaders: HTTPHeaders

  package init(
    baseURL: URL?, headers: HTTPHeaders = [:], commonParameters: @escaping @Sendable () -> Parameters = { [:] },
    timeouts: Request.Timeouts = Request.Timeouts(), options: Request.OptionsBox? = nil, signer: (any Signer)? = nil,
    conventions: EncodingConventions = EncodingConventions(), context: Context = Context()
  ) {
    self.baseURL = baseURL
    self.headers = headers
    self.commonParameters = commonParameters
    self.timeouts = timeouts
    self.options = options
    self.signer = signer
    self.conventions = conventions
    base = baseURL.flatMap(BaseURL.init)
    origin = baseURL.map(Origin.init)
    self.context = context
    var context = context
    if !headers.isEmpty { context[OriginBoundHeadersKey.self] = headers }
    ownContext = context
    jsonHeaders = Self.accepting(Self.json, headers)
  }

  /// Returns the request for `call`. Method and header fields are not checked here: every transport rejects invalid
  /// ones. `accept` is the `Accept` field, unless the request has one.
  ///
  /// - Throws: `NetworkError` of kind `encoding` or `invalidRequest`, with the request as far as it was built.
  package func request(for call: CallContent, accept: String? = nil) throws -> Request {
    let plain = call.baseURL == nil ? base?.url(for: call.target) : nil
    let url = try plain ?? call.target.url(below: call.baseURL ?? baseURL)
    let isOwn = !call.isForeign && (plain != nil || origin?.contains(url) ?? true)
    let fields =
      isOwn && call.headers.isEmpty && accept == Self.json
      ? jsonHeaders : Self.accepting(accept, isOwn ? headers.merging(call.headers) : call.headers)
    var request = Request(method: call.method, url: url, headers: fields, timeouts: timeouts)
    request.chosenOptions = options
    request.context = isOwn ? ownContext : context
    if !call.caching.isDefault { request.caching = call.caching }
    call.adjust(&request)
    do {
      try encode(call, isOwn: isOwn, into: &request)
      if call.isForeign { request.context[ForeignURL.self] = request.url }
    } catch var error as NetworkError {
      error.request = error.request ?? request
      throw error
    } catch {
      throw NetworkError(
        kind: .encoding, reason: "the parameters cannot be encoded: \(error)", request: request, underlying: error)
    }
    return request
  }

  private static let json = "application/json"

  private static func accepting(_ type: String?, _ headers: HTTPHeaders) -> HTTPHeaders {
    guard let type, headers["Accept"] == nil else { return headers }
    var headers = headers
    headers["Accept"] = type
    return headers
  }

  private func encode(_ call: CallContent, isOwn: Bool, into request: inout Request) throws {
    var common = isOwn && !call.isFrozen ? commonParameters() : [:]
    // Parameters that the call has written into its URL also take precedence.
    if !common.isEmpty {
      for (name, _) in request.url.queryPairs { common.omit(name) }
    }
    // Most requests have neither content nor parameters.
    if case .none = call.task.kind, common.isEmpty, request.method.putsParametersInURL, signer == nil { return }
    let encoder = TaskEncoder(task: call.task, common: common, conventions: conventions)
    guard let signer, isOwn else { return try encoder.encode(into: &request) }
    let signing = try Signing(signer, encoder, bare: request)
    request = signing.encoded
    request.context[Signing.self] = signing
  }
}
