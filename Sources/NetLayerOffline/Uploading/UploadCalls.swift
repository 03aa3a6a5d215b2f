import PortableFoundation

struct UploadCalls: Sendable {
  private let method: UploadProtocol
  /// Creates the upload with an empty body. Common parameters of the backend then go into the query.
  private(set) var create: CallContent
  /// The origin that may receive the fields of the endpoint and the backend.
  private let origin: Origin
  /// The request that creates the upload, before interceptors change it.
  let request: Request
  /// The same, as the caller asks for it: without common parameters and the fields of the protocol.
  private let asked: Request
  private let file: URL
  private let redaction: Redaction
  /// The tags of the data that the upload changes.
  let invalidated: Set<CacheTag>

  /// Creates the requests that upload `file` to `endpoint`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` or `encoding`, also for an endpoint with content and for a version of
  ///   the draft that is not supported.
  init(_ endpoint: some Endpoint, file: URL, size: Int64, by method: UploadProtocol, on network: Network) throws {
    if let refusal = method.refusal { throw network.reading.error(.invalidRequest, refusal) }
    var call = CallContent(endpoint)
    guard let task = Self.empty(call.task) else {
      throw network.reading.error(
        .invalidRequest,
        "an upload that resumes sends only the file, but \(call.method) \(call.path) has other content; put it into "
          + "the query or the header fields")
    }
    invalidated = call.caching.invalidates
    call.task = task
    call.isFrozen = true
    asked = try network.builder.request(for: call)
    (self.file, redaction) = (file, network.backend.redaction)
    call.isFrozen = false
    for field in method.creation(of: file.lastPathComponent, size: size) where call.headers[field.name] == nil {
      call.headers[field.name] = field.value
    }
    Self.prepare(&call)
    create = network.capturingContext(call)
    request = try network.builder.request(for: create, accept: endpoint.accept)
    self.method = method
    origin = Origin(request.url)
  }

  /// Returns the same calls, which are sent only as the users who begin the upload.
  func belonging(to accounts: Accounts) -> UploadCalls {
    var calls = self
    calls.create.context[CallAccounts.self] = accounts.ofLongCall
    return calls
  }

  /// Returns the text that distinguishes this upload from others.
  func identity(of user: String) -> String {
    UploadIdentity.text(of: asked, file: file, user: user)
  }

  /// Returns the digest of the secrets of this upload, which may be all that tells its user from another one. The URL of
  /// the upload keeps equal secrets of two uploads from having one digest.
  func secrets(of upload: URL, cookies: String?) -> String {
    let text = UploadIdentity.secrets(of: request, cookies: cookies, hiding: redaction)
    return Hash.sha256(Data("\(upload.absoluteString)\n\(text)".utf8)).hex
  }

  /// Asks for the offset.
  func ask(_ upload: URL) -> CallContent { call(.head, upload, method.plain) }

  func delete(_ upload: URL) -> CallContent { call(.delete, upload, method.plain) }

  func append(
    to upload: URL, from offset: Int64, isLast: Bool, _ body: Request.BodyStream?, timeouts: Request.Timeouts,
    replacesPatch: Bool
  ) -> CallContent {
    var fields = method.append(from: offset, isLast: isLast)
    if replacesPatch { fields["X-HTTP-Method-Override"] = "PATCH" }
    var call = call(replacesPatch ? .post : .patch, upload, fields)
    call.task =
      body.map { .stream($0, contentType: method.contentType) } ?? .data(Data(), contentType: method.contentType)
    // The time that an upload takes depends on its size.
    call.limits = CallContent.Limits(idle: create.limits.map(\.idle) ?? timeouts.idle, attempt: nil)
    call.timeout = nil
    return call
  }

  private func call(_ verb: HTTPMethod, _ upload: URL, _ fields: HTTPHeaders) -> CallContent {
    var call = CallContent(verb, upload)
    (call.timeout, call.limits, call.priority) = (create.timeout, create.limits, create.priority)
    (call.httpVersion, call.context) = (create.httpVersion, create.context)
    if Origin(upload) == origin {
      let own = create.headers.filter { !Self.isForCreation($0.name) }
      call.headers = HTTPHeaders(own).merging(fields)
    } else {
      // The fields of the endpoint and the backend may be credentials, which must not be sent to another origin.
      call.headers = fields
      call.isForeign = true
    }
    Self.prepare(&call)
    return call
  }

  private static func isForCreation(_ name: String) -> Bool {
    let name = name.lowercased()
    // The key and the conditions are those of the creation, too: a server would replay its response, or reject the rest.
    return name.hasPrefix("upload-") || name.hasPrefix("if-")
      || ["content-type", "content-disposition", "content-language", "idempotency-key"].contains(name)
  }

  /// Keeps a cache or a shared request from responding to the call.
  private static func prepare(_ call: inout CallContent) {
    call.caching = CacheOptions(policy: .networkOnly)
    call.context[IsPartOfUpload.self] = true
  }

  /// Returns the task without content; `nil` if it has any.
  private static func empty(_ task: HTTPTask) -> HTTPTask? {
    switch task.kind {
    case .none: .data(Data())
    case .query(let query, let inner): empty(inner).map { .query(query, $0) }
    default: nil
    }
  }
}

/// A marker of the requests of uploads.
enum IsPartOfUpload: ContextKey { static let defaultValue = false }
