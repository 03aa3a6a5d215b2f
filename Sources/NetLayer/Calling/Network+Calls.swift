import PortableFoundation
import Streams

extension Network {
  /// Requests JSON in an envelope and emits it if status and code mean success.
  ///
  /// Emits once, unless an interceptor emits several responses. For example, a cache may respond before the network.
  ///
  /// - Parameters:
  ///   - method: The HTTP method. GET, HEAD, DELETE and TRACE put parameters into the URL.
  ///   - url: A path of the backend or an absolute URL.
  ///   - parameters: The parameters, which take precedence over the backend's common ones. Pass any `Encodable` as
  ///     `Parameters(value)`.
  ///   - encoding: `.url`, `.query`, `.form`, `.json` or a custom encoder. The default for methods with a body is the
  ///     backend's `bodyEncoding`.
  ///   - headers: The header fields, which take precedence over the backend's.
  public func json(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<JSON> {
    checkedJSON(CallContent(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Requests text and emits it if the status is a success. The parameters are the same as in `json`.
  public func string(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<String> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().text() }
    }
  }

  /// Requests bytes and emits them if the status is a success. The parameters are the same as in `json`.
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().body }
    }
  }

  /// Requests any content and emits the response of any status. Check it with `validated()`, `common()` or
  /// `map(_:at:)`. The parameters are the same as in `json`.
  public func response(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    responses(CallContent(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Unavailable: use a ``Call`` such as `.get(url)`.
  @available(*, unavailable, message: "use request(.get(url, query: …), as: Model.self), or .post(url, json: …)")
  public func request<Result>(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:], as type: Result.Type = Result.self
  ) -> Single<Result> {
    fatalError("unavailable")
  }

  /// Unavailable: use a ``Call`` such as `.get(url)`.
  @available(*, unavailable, message: "use request(.get(url, query: …)), or fetch(.delete(url)) with await")
  public func request(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Single<Response> {
    fatalError("unavailable")
  }
}
