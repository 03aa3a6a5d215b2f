import PortableFoundation
import Streams

extension Network {
  /// Requests JSON and emits it if its status and the code of its envelope mean success: `json(_:)` of a ``Call``.
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
    json(Call(CallContent(method, url, parameters: parameters, encoding: encoding, headers: headers)))
  }

  /// Requests text: `request(_:as: String.self)`. The parameters are the same as in `json`.
  public func string(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<String> {
    responses(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().text() }
    }
  }

  /// Requests bytes: `request(_:as: Data.self)`. The parameters are the same as in `json`.
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    responses(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().body }
    }
  }

  /// Requests any content and emits the response of any status: `responses(_:)` of a ``Call``. The parameters are the same
  /// as in `json`.
  public func responses(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    responses(CallContent(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }
}

extension Endpoint {
  /// Calls the endpoint on `network`: `Network.request(_:)`.
  @inlinable
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Output> {
    network.request(self, progress: progress)
  }
}

extension Endpoint where Output == Response {
  /// Calls the endpoint on `network`: `Network.request(_:)`.
  public func request(on network: Network = .default, progress: ProgressHandler? = nil) -> Single<Response> {
    network.request(self, progress: progress)
  }
}

extension ObservableType where Element: Endpoint {
  /// Calls each endpoint as it arrives: `flatMap { network.request($0) }`.
  @inlinable
  public func request(on network: Network = .default) -> Observable<Element.Output> {
    flatMap { network.request($0) as Single<Element.Output> }
  }
}

/// A client of one endpoint type, for streams: `network.request` of its cases.
public struct Service<E: Endpoint>: Sendable {
  /// The network that the service calls.
  public let network: Network

  /// Creates a service on `network`.
  public init(_ network: Network = .default) { self.network = network }

  /// Calls `endpoint` and emits its result.
  @inlinable
  public func request(_ endpoint: E, progress: ProgressHandler? = nil) -> Single<E.Output> {
    network.request(endpoint, progress: progress)
  }

  /// Calls `endpoint` and decodes a model from the payload.
  @_disfavoredOverload
  @inlinable
  public func request<Model: Decodable & Sendable>(
    _ endpoint: E, as type: Model.Type = Model.self, progress: ProgressHandler? = nil
  ) -> Single<Model> {
    network.request(endpoint, as: type, progress: progress)
  }

  /// Calls `endpoint` and emits text, bytes, JSON or another readable result.
  @inlinable
  public func request<Result: ResponseReadable>(
    _ endpoint: E, as type: Result.Type = Result.self, progress: ProgressHandler? = nil
  ) -> Single<Result> {
    network.request(endpoint, as: type, progress: progress)
  }

  /// Calls `endpoint` and emits its JSON in an envelope if status and code mean success.
  public func json(_ endpoint: E) -> Observable<JSON> { network.json(endpoint) }
}

extension Request {
  /// Sends the request and calls `completion` once: `Network.send(_:)` and `Response.validated()` with a completion.
  ///
  /// The completion runs on the backend's `delivery` scheduler, or else on `mapping`. The backend applies its
  /// interceptors and adds nothing else to the request.
  @discardableResult
  public func start(
    on network: Network = .default, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    network.run(network.send(self).delivering { try $0.validated() }, completion)
  }
}
