import PortableFoundation
import Streams

extension Network {
  /// Asks for JSON in the default or the given envelope; emits it when status and code are a success
  /// (article rows 0.9, 0.19, 0.20).
  ///
  /// Emits once, unless an interceptor gives several answers, as a cache does that answers before the network.
  ///
  /// - Parameters:
  ///   - method: the HTTP method; GET, HEAD, DELETE and TRACE put parameters into the URL.
  ///   - url: a path below the back end's base URL, or an absolute URL.
  ///   - parameters: over the back end's common ones; any `Encodable` as `Parameters(value)`.
  ///   - encoding: `.url`, `.query`, `.form`, `.json`, or one's own; without one, the back end's `bodyEncoding` where the
  ///     method has a body.
  ///   - headers: over the back end's.
  public func json(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<JSON> {
    json(Call(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Asks for text; emits it when the status is a success (article row 1.5). Parameters as in `json`.
  public func string(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<String> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().text() }
    }
  }

  /// Asks for bytes; emits them when the status is a success (article row 1.5). Parameters as in `json`.
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().body }
    }
  }

  /// Asks for anything; emits the answer whatever its status: `validated()`, `common()` and `map(_:at:)` look at it.
  /// Parameters as in `json`.
  public func response(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    responses(Call(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Was a request by method and path: ``Call`` says both, and more.
  @available(*, unavailable, message: "write request(.get(url, query: …), as: Model.self), or .post(url, json: …)")
  public func request<Result>(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:], as type: Result.Type = Result.self
  ) -> Single<Result> {
    fatalError("unavailable")
  }

  /// Was a request by method and path, of any response: ``Call`` says both, and more.
  @available(*, unavailable, message: "write request(.get(url, query: …)), or fetch(.delete(url)) with await")
  public func request(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Single<Response> {
    fatalError("unavailable")
  }
}
