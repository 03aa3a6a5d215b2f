import PortableFoundation

/// A call as a value: the endpoint for calls that need no type of their own, and what other endpoints are changed into.
///
/// ```swift
/// let user: User = try await network.fetch(.get("/users/octocat"))
/// let made = try await network.fetch(.post("/user/repos", json: NewRepo(name: "x")).timeout(.seconds(5)), as: Repo.self)
/// ```
/// Wherever an endpoint is taken, a call can be written as `.get(…)`, `.post(…)` and so on. The methods that change one
/// (`header`, `query`, `timeout` …) give a changed copy, of any endpoint.
public struct Call: Endpoint {
  /// The URL that `path` stands below; `nil` is the back end's.
  public var baseURL: URL?
  /// The path below the base URL, or an absolute URL.
  public var path: String {
    get { (target as? String) ?? (target as? URL)?.absoluteString ?? "\(target)" }
    set { target = newValue }
  }
  /// The method.
  public var method: HTTPMethod
  /// What is sent along.
  public var task: HTTPTask
  /// Header fields over the back end's.
  public var headers: HTTPHeaders
  /// How the back end's cache is used.
  public var caching: CacheOptions
  /// The limit of one attempt, in place of the back end's `Timeouts.total`; `nil` for that.
  public var timeout: Duration?
  /// Who goes first where requests wait for a connection; `nil` for the back end's.
  public var priority: Request.Priority?
  /// What the request carries for interceptors.
  public var context: Context {
    get { notes ?? Context() }
    set { notes = newValue }
  }
  private var notes: Context?
  /// Whether someone else has named the URL: nothing of the back end's goes along, also where it has no base URL.
  var isForeign = false
  /// Where it goes, as it was given.
  private(set) var target: any URLConvertible

  /// A call of `method` to a path below the back end's base URL, or to an absolute URL.
  public init(
    _ method: HTTPMethod, _ url: some URLConvertible, task: HTTPTask = .plain, headers: HTTPHeaders = [:],
    caching: CacheOptions = CacheOptions()
  ) {
    self.target = url
    self.method = method
    self.task = task
    self.headers = headers
    self.caching = caching
  }

  /// The call that `endpoint` describes.
  public init<E: Endpoint>(_ endpoint: E) {
    if E.self == Call.self, let call = endpoint as? Call {
      self = call
      return
    }
    if let wrapper = endpoint as? any CallWrapper {
      self = wrapper.call
      return
    }
    baseURL = endpoint.baseURL
    target = endpoint.path
    method = endpoint.method
    task = endpoint.task
    headers = endpoint.headers
    caching = endpoint.caching
    if caching.allowsStorage != nil, caching.endpoint == nil { caching.endpoint = ObjectIdentifier(E.self) }
  }

  init(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters?, encoding: (any ParameterEncoder)?,
    headers: HTTPHeaders
  ) {
    self.init(method, url, task: parameters.map { .parameters($0, encoding: encoding) } ?? .plain, headers: headers)
  }
}

extension Call {
  /// Writes into `request` what the call wants otherwise than its back end.
  func adjust(_ request: inout Request) {
    // 0 would be no limit: a time that has just run out is a short one.
    if let timeout { request.timeouts.total = timeout == .zero ? 0.001 : timeout / .seconds(1) }
    if let priority { request.options.priority = priority }
    guard let notes else { return }
    let bound = request.context[OriginBoundFields.self]
    request.context.take(notes)
    if !bound.isEmpty {
      request.context[OriginBoundFields.self] = bound.merging(request.context[OriginBoundFields.self])
    }
    // The context of another request is no reason to take over its signature.
    if request.context[Signed.self] != nil { request.context[Signed.self] = nil }
    if request.context[Signing.AwaitedSignature.self] != nil { request.context[Signing.AwaitedSignature.self] = nil }
    if request.context[Attempt.self] > 1 { request.context[Attempt.self] = 1 }
    request.context[HasNotes.self] = true
  }

  /// Puts `parameters` into the query, over those of their names that the call has there.
  mutating func add(query parameters: Parameters) {
    let names = (try? URLParameterEncoder().pairs(of: parameters).map(\.name)) ?? []
    if path.utf8.contains(UInt8(ascii: "?")) { path = path.withoutQueryPairs(of: names) }
    switch task {
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

/// Whether a caller has attached values to the request, which interceptors may go by.
enum HasNotes: ContextKey {
  static let defaultValue = false
}

/// An endpoint that is a call and something beside it.
protocol CallWrapper {
  var call: Call { get }
}
