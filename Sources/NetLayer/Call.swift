import Foundation

/// A call as a value: the endpoint for calls that need no type of their own, and what other endpoints are changed into.
///
/// ```swift
/// network.request(Call(.get, "/users/octocat"), as: User.self)
/// ```
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
    if let known = (endpoint as? Call) ?? (endpoint as? any CallWrapper)?.call {
      self = known
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
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters?, encoding: any ParameterEncoder,
    headers: HTTPHeaders
  ) {
    self.init(method, url, task: parameters.map { .parameters($0, encoding: encoding) } ?? .plain, headers: headers)
  }
}

/// An endpoint that is a call and something beside it.
protocol CallWrapper {
  var call: Call { get }
}
