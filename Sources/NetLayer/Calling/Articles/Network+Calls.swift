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
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().text() }
    }
  }

  /// Requests bytes: `request(_:as: Data.self)`. The parameters are the same as in `json`.
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().body }
    }
  }

  /// Requests any content and emits the response of any status: `response(_:)` of a ``Call``. The parameters are the same
  /// as in `json`.
  public func response(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: (any ParameterEncoder)? = nil, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    responses(CallContent(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }
}
