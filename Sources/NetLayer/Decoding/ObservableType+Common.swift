import PortableFoundation
import Streams

extension ObservableType where Element == Response {
  /// Parses the response after checking its HTTP status, then checks the code in the backend's envelope.
  ///
  /// - Returns: The whole JSON, including the envelope. Fails with a `NetworkError`: `status` with the server's
  ///   message, `rejected` with the server's code and message, or `parse`.
  public func common() -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.common() } }
  }

  /// The same with `envelope` instead of the backend's.
  public func common(_ envelope: Envelope) -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.common(envelope) } }
  }

  /// Decodes a model from the value at `path` of the body if the status is 200 to 299.
  ///
  /// - Parameters:
  ///   - type: Any `Decodable`. An optional type decodes null and an absent value as `nil`.
  ///   - path: A path such as `data.items[0].name`; `nil` for the whole body.
  ///   - decoder: The decoder to use instead of the backend's.
  ///   - failsOnEmptyData: `true` if an empty body is an error. Otherwise the model is decoded from `null`, `{}` or
  ///     `[]`, the first that succeeds.
  /// - Returns: The model, on the backend's `delivery` scheduler. An absent value, or one that the model can't decode,
  ///   is an error of kind `parse` with its coding path.
  @inlinable
  public func map<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, decoder: (any ModelDecoder)? = nil, failsOnEmptyData: Bool = true
  ) -> Observable<Model> {
    delivering {
      try $0.decoding(with: decoder).validated().model(type, at: path, failsOnEmptyData: failsOnEmptyData)
    }
  }
}

extension ObservableType where Element == Data {
  /// Parses the bytes and checks the code in the envelope of `Network.default`.
  ///
  /// The work runs on the thread where the source emits.
  public func common() -> Observable<JSON> { map { try JSON(received: $0).accepted() } }

  /// The same with `envelope` instead of the default network's.
  public func common(_ envelope: Envelope) -> Observable<JSON> {
    map { try JSON(received: $0).accepted(by: envelope) }
  }

  /// Decodes a model from the value at `path`, or from the whole JSON, with the decoder of `Network.default`.
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    map { try JSON(received: $0) }.map(type, at: path)
  }
}

extension ObservableType where Element == String {
  /// Parses the text and checks the code in the envelope of `Network.default`, on the thread where the source emits.
  public func common() -> Observable<JSON> { map { Data($0.utf8) }.common() }

  /// The same with `envelope` instead of the default network's.
  public func common(_ envelope: Envelope) -> Observable<JSON> { map { Data($0.utf8) }.common(envelope) }

  /// Decodes a model from the value at `path`, or from the whole JSON, with the decoder of `Network.default`.
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    map { Data($0.utf8) }.map(type, at: path)
  }
}

extension ObservableType where Element == JSON {
  /// Checks the code in the JSON's own envelope, else in the envelope of `Network.default`. JSON that has already been
  /// accepted passes unchanged.
  public func common() -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.accepted() } }
  }

  /// Checks the code in `envelope`. JSON that has already been accepted passes unchanged.
  public func common(_ envelope: Envelope) -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.accepted(by: envelope) } }
  }

  /// Decodes a model from the value at `path` from the root, even outside the envelope's payload, or from the whole
  /// JSON.
  @inlinable
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    delivering { try $0.model(type, at: path) }
  }
}

extension Single where Element == Response {
  /// Parses the response after checking its HTTP status, then checks the code in the backend's envelope.
  public func common() -> Observable<JSON> { asObservable().common() }

  /// The same with `envelope` instead of the backend's.
  public func common(_ envelope: Envelope) -> Observable<JSON> { asObservable().common(envelope) }

  /// Decodes a model from the value at `path` of the body, or from the whole body, if the status is 200 to 299.
  public func map<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, decoder: (any ModelDecoder)? = nil, failsOnEmptyData: Bool = true
  ) -> Single<Model> {
    asObservable().map(type, at: path, decoder: decoder, failsOnEmptyData: failsOnEmptyData).asSingle()
  }
}

extension ObservableType where Element == Response {
  func settled() -> Observable<Response> {
    compactMap { try $0.reporting { try $0.settled() } }
  }
}

extension Single where Element == Response {
  /// Succeeds with what `read` returns for a response whose status is 200 to 299.
  func read(_ read: @escaping @Sendable (Response) throws -> Response) -> Single<Response> {
    // The last response of a call, which is not provisional.
    Single(trusted: asObservable().compactMap { try $0.reporting { try read(try $0.validated()) } })
  }
}
