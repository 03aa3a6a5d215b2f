import PortableFoundation

/// A call whose body is encoded: what an outbox stores. The backend adds its URL, header fields, token and signature at
/// each attempt.
struct FrozenCall: Sendable {
  var method: HTTPMethod
  /// The path with its query, relative to the base URL, or an absolute URL.
  var path: String
  var headers: HTTPHeaders
  var accept: String?
  var body: Data
  var invalidates: Set<CacheTag> = []
  /// The digest of method, URL and body as the caller passed them, for a call with its own key; `nil` for others, whose
  /// random key no other call has. Common parameters and boundaries, which differ each time, are not part of it.
  var fingerprint: String?

  /// Returns the identity of the write of `account`: the key that the server uses to detect a second request if it is a
  /// UUID, else a digest of the account and the key.
  func id(of account: String?) -> UUID {
    let key = headers["Idempotency-Key"] ?? ""
    let isQuoted = key.count > 2 && key.hasPrefix("\"") && key.hasSuffix("\"")
    if let id = UUID(uuidString: isQuoted ? String(key.dropFirst().dropLast()) : key) { return id }
    let text = "\(account.map { "\($0.utf8.count):\($0)" } ?? "-")\(key)"
    return Hash.sha256(Data(text.utf8)).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension FrozenCall {
  /// Encodes `endpoint`, with an `Idempotency-Key` unless it has one.
  ///
  /// - Throws: `NetworkError` of kind `encoding` for a body that is not in memory, and for a download.
  init(_ endpoint: some Endpoint, on network: Network) throws {
    var content = CallContent(endpoint)
    let hasOwnKey = content.headers["Idempotency-Key"] != nil
    if !hasOwnKey { content = CallContent(Call(content).idempotent()) }
    // Common parameters are added to an absolute URL only if it belongs to the backend.
    let isAbsolute = content.baseURL != nil || (try? content.target.url(below: nil)) != nil
    let builder = RequestBuilder(
      baseURL: isAbsolute ? network.backend.currentURL : URL(text: Self.origin),
      commonParameters: network.backend.commonParameters, conventions: network.builder.conventions)
    let request = try builder.request(for: content)
    self.init(
      method: request.method, path: String(request.url.absoluteString.dropFirst(isAbsolute ? 0 : Self.origin.count)),
      headers: request.headers, accept: endpoint.accept, body: try Self.bytes(of: request),
      invalidates: content.caching.invalidates)
    guard hasOwnKey else { return }
    // Without common parameters.
    content.isFrozen = true
    fingerprint = try Self.fingerprint(of: builder.request(for: content))
  }

  private static func fingerprint(of request: Request) throws -> String {
    var body = try bytes(of: request)
    if let boundary = MediaType(request.headers["Content-Type"] ?? "").parameter("boundary") {
      // A delimiter is at the start of a line (RFC 2046 §5.1.1). The same text elsewhere is content.
      let delimiter = Data("\r\n--\(boundary)".utf8)
      body = (Data("\r\n".utf8) + body).replacing(delimiter, with: Data("\r\n--".utf8)).dropFirst(2)
    }
    return Hash.sha256(Data("\(request.method) \(request.url.absoluteString)\n".utf8) + body).hex
  }

  /// A base URL in place of the backend's, which may be another one at a later attempt.
  private static let origin = "http://outbox.invalid"

  private static func bytes(of request: Request) throws -> Data {
    var bytes: Data?
    switch request.body {
    case .none: bytes = Data()
    case .data(let data): bytes = data
    case .parts(let parts):
      bytes = parts.reduce(Data()) { whole, part in
        guard let whole, case .data(let data) = part else { return nil }
        return whole + data
      }
    case .file, .stream: break
    }
    guard let bytes, request.destination == nil else {
      let what = request.destination == nil ? "its body is a file or a stream" : "it downloads a file"
      throw NetworkError(
        kind: .encoding,
        reason: "an outbox can't store \(request), because \(what); upload the file first, then send its name",
        request: request)
    }
    return bytes
  }

  /// The call that sends the stored bytes, which each attempt repeats.
  var content: CallContent {
    var content = CallContent(method, path, task: body.isEmpty ? .none : .data(body), headers: headers)
    content.isFrozen = true
    content.caching.invalidates = invalidates
    return content
  }
}
