import Foundation
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
  ///   - parameters: over the back end's common ones; also any `Encodable`.
  ///   - encoding: `.url`, `.query`, `.form`, `.json`, or one's own.
  ///   - headers: over the back end's.
  public func json(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<JSON> {
    json(Call(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Asks for text; emits it when the status is a success (article row 1.5). Parameters as in `json`.
  public func string(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<String> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().text() }
    }
  }

  /// Asks for bytes; emits them when the status is a success (article row 1.5). Parameters as in `json`.
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    response(method, url, parameters: parameters, encoding: encoding, headers: headers).compactMap {
      try $0.reporting { try $0.validated().body }
    }
  }

  /// Asks for anything; emits the answer whatever its status: `validated()`, `common()` and `map(_:at:)` look at it.
  /// Parameters as in `json`.
  public func response(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    responses(Call(method, url, parameters: parameters, encoding: encoding, headers: headers))
  }

  /// Asks for anything and makes a model of the whole body when the status is a success. Parameters as in `json`.
  @_disfavoredOverload
  public func request<Model: Decodable & Sendable>(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:], as type: Model.Type = Model.self
  ) -> Single<Model> {
    request(Call(method, url, parameters: parameters, encoding: encoding, headers: headers), as: type)
  }

  /// Asks for text, bytes, JSON, or what else reads a response, when the status is a success. Parameters as in `json`.
  public func request<Result: ResponseReadable>(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: Parameters? = nil,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:], as type: Result.Type = Result.self
  ) -> Single<Result> {
    request(Call(method, url, parameters: parameters, encoding: encoding, headers: headers), as: type)
  }
}

// Disfavoured, so that a dictionary literal becomes `Parameters`, where `nil` drops its key and values may differ.
extension Network {
  /// `json` with the members of any `Encodable` as parameters; an array can be sent with `encoding: .json` only.
  @_disfavoredOverload
  public func json(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: some Sendable & Encodable,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<JSON> {
    json(method, url, parameters: Parameters(parameters), encoding: encoding, headers: headers)
  }

  /// `string` with the members of any `Encodable` as parameters.
  @_disfavoredOverload
  public func string(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: some Sendable & Encodable,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<String> {
    string(method, url, parameters: Parameters(parameters), encoding: encoding, headers: headers)
  }

  /// `data` with the members of any `Encodable` as parameters.
  @_disfavoredOverload
  public func data(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: some Sendable & Encodable,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<Data> {
    data(method, url, parameters: Parameters(parameters), encoding: encoding, headers: headers)
  }

  /// `response` with the members of any `Encodable` as parameters.
  @_disfavoredOverload
  public func response(
    _ method: HTTPMethod, _ url: some URLConvertible, parameters: some Sendable & Encodable,
    encoding: any ParameterEncoder = .url, headers: HTTPHeaders = [:]
  ) -> Observable<Response> {
    response(method, url, parameters: Parameters(parameters), encoding: encoding, headers: headers)
  }
}
