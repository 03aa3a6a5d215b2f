import PortableFoundation

/// A call as a value: an endpoint for calls that need no type of their own, and the result of modifying other
/// endpoints.
///
/// ```swift
/// let user: User = try await network.fetch(.get("/users/octocat"))
/// let made = try await network.fetch(.post("/user/repos", json: NewRepo(name: "x")).timeout(.seconds(5)), as: Repo.self)
/// ```
/// Write a call as `.get(…)`, `.post(…)` and so on wherever a function takes an endpoint. The methods that modify an
/// endpoint (`header`, `query`, `timeout` …) return a modified copy with the same result.
public struct Call<Output: Sendable>: Endpoint {
  @usableFromInline var content: CallContent
  /// The `Accept` field of the result's type.
  public let accept: String?
  /// The type that determines `reader`: an endpoint's type, or the type of the result.
  let form: Any.Type
  @usableFromInline let reader: @Sendable (Response) throws -> Output

  /// Reads the result from `response`.
  public func read(_ response: Response) throws -> Output { try reader(response) }

  /// The URL that `path` is relative to; `nil` for the backend's base URL.
  public var baseURL: URL? {
    get { content.baseURL }
    set { content.baseURL = newValue }
  }
  /// The path, relative to the base URL, or an absolute URL.
  public var path: String {
    get { content.path }
    set { content.path = newValue }
  }
  /// The method.
  public var method: HTTPMethod {
    get { content.method }
    set { content.method = newValue }
  }
  /// The content to send.
  public var task: HTTPTask {
    get { content.task }
    set { content.task = newValue }
  }
  /// The parameters of the query that the content does not contain itself.
  public var query: Parameters { if case .query(let query, _) = task.kind { query } else { [:] } }
  /// The header fields, which take precedence over the backend's.
  public var headers: HTTPHeaders {
    get { content.headers }
    set { content.headers = newValue }
  }
  /// The cache options of the call.
  public var caching: CacheOptions {
    get { content.caching }
    set {
      let labels = content.caching.labels
      content.caching = newValue
      content.caching.labels = labels
    }
  }
  /// The tags of the data that the call returns.
  public var tags: Set<CacheTag> {
    get { content.caching.tags }
    set { content.caching.tags = newValue }
  }
  /// The tags of the data that the call changes.
  public var invalidates: Set<CacheTag> {
    get { content.caching.invalidates }
    set { content.caching.invalidates = newValue }
  }
  /// The time limit of the whole call, as in ``Endpoint/timeout(_:)``; `nil` for the backend's limits. A limit of zero or
  /// less, such as the rest of a deadline that has passed, is a limit of 1 ms.
  public var timeout: Duration? {
    get { content.timeout }
    set { content.timeout = newValue }
  }
  /// The priority of the request in the queue for a connection; `nil` for the backend's.
  public var priority: Request.Priority? {
    get { content.priority }
    set { content.priority = newValue }
  }
  /// The version of HTTP; `nil` for the backend's. Downloads to files and event streams use HTTP/1.1 if only the backend
  /// chooses `http2`, because over HTTP/2 a truncated body may look complete.
  public var httpVersion: Request.HTTPVersion? {
    get { content.httpVersion }
    set { content.httpVersion = newValue }
  }
  /// The values that the request carries for interceptors.
  public var context: Context {
    get { content.context }
    set {
      content.context = newValue
      // The context of another request brings the users of its call.
      if newValue[CallAccounts.self] != nil { content.context[CallAccounts.self] = nil }
    }
  }
}

extension Call {
  /// Creates the call that `endpoint` describes.
  public init<E: Endpoint>(_ endpoint: E) where E.Output == Output {
    let form = endpoint.form
    self.init(content: CallContent(endpoint), accept: endpoint.accept, form: form) { try endpoint.read($0) }
  }
}

extension Call where Output == Response {
  /// Creates a call of any method with any content to a path of the backend or to an absolute URL.
  ///
  /// ```swift
  /// let found = try await files.fetch(Call("PROPFIND", "/notes", task: .data(xml, contentType: "application/xml")))
  /// ```
  public init(
    _ method: HTTPMethod, _ url: some URLConvertible, task: HTTPTask = .plain, query: Parameters = [:],
    headers: HTTPHeaders = [:], caching: CacheOptions = CacheOptions()
  ) {
    let task = query.isEmpty ? task : .query(query, task)
    self.init(CallContent(method, url, task: task, headers: headers, caching: caching))
  }

  package init(_ content: CallContent) {
    self.init(content: content, accept: nil, form: Response.self) { try $0.settled() }
  }
}

/// The content of a call, whatever its result.
@usableFromInline
package struct CallContent: Sendable {
  package var baseURL: URL?
  package var path: String {
    get {
      (target as? String) ?? (target as? URL)?.absoluteString ?? (target as? [String])?.pathOfComponents ?? "\(target)"
    }
    set { target = newValue }
  }
  package var method: HTTPMethod
  package var task: HTTPTask
  package var headers: HTTPHeaders
  package var caching: CacheOptions
  package var timeout: Duration?
  /// The limits of an attempt that replace the backend's.
  package var limits: Limits?
  package var priority: Request.Priority?
  package var httpVersion: Request.HTTPVersion?
  package var context: Context {
    get { notes ?? Context() }
    set { notes = newValue }
  }
  private var notes: Context?
  /// The type of the endpoint that described the call; `nil` for a `Call`.
  private(set) var endpoint: Any.Type?
  /// Whether a server of another origin has chosen the URL. The request then carries no credentials (`ForeignURL`), and
  /// the backend adds nothing to it, even if it has no base URL.
  package var isForeign = false
  /// Whether the task is already encoded, with the common parameters of that time.
  package var isFrozen = false
  /// The time limits of an attempt; a class, because few calls have them.
  package final class Limits: Sendable {
    package let (idle, attempt): (Duration?, Duration?)

    package init(idle: Duration?, attempt: Duration?) { (self.idle, self.attempt) = (idle, attempt) }
  }

  /// The target that the caller passed.
  package private(set) var target: any URLConvertible

  package init(
    _ method: HTTPMethod, _ url: some URLConvertible, task: HTTPTask = .plain, headers: HTTPHeaders = [:],
    caching: CacheOptions = CacheOptions()
  ) {
    self.target = url
    self.method = method
    self.task = task
    self.headers = headers
    self.caching = caching
  }

  @usableFromInline
  package init<E: Endpoint>(_ endpoint: E) {
    // The most frequent type, which needs no search for a conformance.
    if E.self == Call<Response>.self, let call = endpoint as? Call<Response> {
      self = call.content
      return
    }
    if let call = endpoint as? any AnyCall {
      self = call.content
      return
    }
    self.endpoint = E.self
    baseURL = endpoint.baseURL
    target = endpoint.path
    method = endpoint.method
    task = endpoint.task
    headers = endpoint.headers
    timeout = endpoint.timeout
    caching = endpoint.caching
    caching.labels = CallTags(tags: endpoint.tags, invalidates: endpoint.invalidates)
    if caching.allowsStorage != nil, caching.endpoint == nil { caching.endpoint = ObjectIdentifier(E.self) }
    #if DEBUG
      let usesTask = if case .plain = task.kind { false } else { true }
      EndpointCheck.report(endpoint, usesTask: usesTask)
    #endif
    let query = endpoint.query
    if !query.layers.isEmpty { add(query: query) }
  }

  init(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters?, encoding: (any ParameterEncoder)?,
    headers: HTTPHeaders
  ) {
    self.init(method, url, task: parameters.map { .parameters($0, encoding: encoding) } ?? .plain, headers: headers)
  }
}

/// The calls of any result.
protocol AnyCall {
  var content: CallContent { get }
  var form: Any.Type { get }
}

extension Call: AnyCall {}

extension Endpoint {
  /// The type that tells endpoints of one request apart: that of the endpoint from which a call was made.
  package var form: Any.Type { (self as? any AnyCall)?.form ?? Self.self }
}

extension CallContent {
  /// Applies to `request` the settings in which the call differs from its backend.
  func adjust(_ request: inout Request) {
    if let limits {
      request.timeouts.idle = limits.idle.map { max($0, .milliseconds(1)) }
      request.timeouts.attempt = limits.attempt.map { max($0, .milliseconds(1)) }
    }
    // The rest of a deadline that has passed is not an invalid limit.
    if let timeout {
      let limit = max(timeout, .milliseconds(1))
      request.timeouts.call = limit
      // An attempt may take all the time of its call, unless this call limits its attempts, too.
      if limits == nil, let attempt = request.timeouts.attempt { request.timeouts.attempt = max(attempt, limit) }
    }
    if let priority { request.options.priority = priority }
    if let httpVersion { request.options.httpVersion = httpVersion }
    guard let notes else { return }
    let bound = request.originBoundHeaders
    request.context.take(notes)
    if !bound.isEmpty {
      request.originBoundHeaders = bound.merging(request.originBoundHeaders)
    }
    // Don't adopt the URL or the signature from another request's context.
    if request.isForeign { request.context[ForeignURL.self] = nil }
    if request.context[Signing.self] != nil { request.context[Signing.self] = nil }
    if request.context[Signed.self] != nil { request.context[Signed.self] = nil }
    if !request.context[RedirectCredentials.self].isEmpty { request.context[RedirectCredentials.self] = [] }
    if request.attempt > 1 { request.attempt = 1 }
    request.context[HasNotes.self] = true
  }

  /// Returns the content with `parameters` added to the query.
  func adding(query parameters: Parameters) -> CallContent {
    var content = self
    content.add(query: parameters)
    return content
  }

  /// Adds `parameters` to the query, replacing parameters of the same name.
  mutating func add(query parameters: Parameters) {
    // The names of elements and members depend on the backend's `queryEncoding`.
    let names =
      (try? URLParameterEncoder().pairs(of: parameters).flatMap { [$0.name, String($0.name.prefix { $0 != "[" })] })
      ?? []
    if path.utf8.contains(UInt8(ascii: "?")) { path = path.withoutQueryPairs(of: names) }
    switch task.kind {
    case .query(let own, let inner): task = .query(parameters.over(own), inner)
    case .composite(let own, let body, let encoding):
      task = .composite(query: parameters.over(own), body: body, encoding: encoding)
    case .parameters(let own, nil) where method.putsParametersInURL: task = .parameters(parameters.over(own))
    case .download(let file, let own, nil) where method.putsParametersInURL:
      task = .download(to: file, parameters: parameters.over(own))
    default: task = .query(parameters, task)
    }
  }
}

/// A marker of requests to which a caller has attached values that interceptors may read.
enum HasNotes: ContextKey {
  static let defaultValue = false
}
