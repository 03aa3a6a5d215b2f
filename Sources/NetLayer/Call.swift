import PortableFoundation

/// A call as a value: an endpoint for calls that need no type of their own, and a modified copy of another endpoint.
///
/// ```swift
/// let user: User = try await network.fetch(.get("/users/octocat"))
/// let made = try await network.fetch(.post("/user/repos", json: NewRepo(name: "x")).timeout(.seconds(5)), as: Repo.self)
/// ```
/// Write a call as `.get(…)`, `.post(…)` and so on wherever a function takes an endpoint.
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
      // The context of another request brings the users and the beginning of its call.
      if newValue[CallAccounts.self] != nil { content.context[CallAccounts.self] = nil }
      if newValue[HasCallingContext.self] { content.context[HasCallingContext.self] = false }
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
  public init(
    _ method: HTTPMethod, _ url: some URLConvertible, task: HTTPTask = .none, query: Parameters = [:],
    headers: HTTPHeaders = [:], caching: CacheOptions = CacheOptions()
  ) {
    let task = query.isEmpty ? task : .query(query, task)
    self.init(CallContent(method, url, task: task, headers: headers, caching: caching))
  }

  package init(_ content: CallContent) {
    self.init(content: content, accept: nil, form: Response.self) { try $0.settled() }
  }
}

extension CallContent {
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
      let usesTask = if case .none = task.kind { false } else { true }
      EndpointCheck.report(endpoint, usesTask: usesTask)
    #endif
    let query = endpoint.query
    if !query.layers.isEmpty { add(query: query) }
  }
}

protocol AnyCall {
  var content: CallContent { get }
  var form: Any.Type { get }
}

extension Call: AnyCall {}

extension Endpoint {
  /// The type that tells endpoints of one request apart: that of the endpoint from which a call was made.
  package var form: Any.Type { (self as? any AnyCall)?.form ?? Self.self }
}
