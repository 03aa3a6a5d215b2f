import PortableFoundation

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
  var endpoint: Any.Type?
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

  package internal(set) var target: any URLConvertible

  package init(
    _ method: HTTPMethod, _ url: some URLConvertible, task: HTTPTask = .none, headers: HTTPHeaders = [:],
    caching: CacheOptions = CacheOptions()
  ) {
    self.target = url
    self.method = method
    self.task = task
    self.headers = headers
    self.caching = caching
  }

  init(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters?, encoding: (any ParameterEncoder)?,
    headers: HTTPHeaders
  ) {
    self.init(method, url, task: parameters.map { .parameters($0, encoding: encoding) } ?? .none, headers: headers)
  }
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
    if !request.context[HasCallingContext.self] { request.context[HasNotes.self] = true }
  }

  func adding(query parameters: Parameters) -> CallContent {
    var content = self
    content.add(query: parameters)
    return content
  }

  /// Adds `items` to the query in the text of the URL.
  mutating func add(_ items: [URLQueryItem]) {
    let pairs = items.map { $0.name.urlEscaped + ($0.value.map { "=" + $0.urlEscaped } ?? "") }
    if !pairs.isEmpty { path += (path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + pairs.joined(separator: "&") }
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
enum HasNotes: ContextKey { static let defaultValue = false }

/// Whether a request has the calling context of the beginning of its call.
enum HasCallingContext: ContextKey { static let defaultValue = false }
