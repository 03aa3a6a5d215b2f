import PortableFoundation
import Streams

extension Response {
  /// The body as JSON, judged by the HTTP status first, then by the code in its envelope (article row 0.20).
  ///
  /// - Parameter envelope: instead of the one of the back end that the answer came from.
  /// - Throws: `NetworkError` of kind `status`, `business` or `parse`.
  public func common(_ envelope: Envelope? = nil) throws -> JSON {
    let context = reading.with(response: self, isAccepted: true, by: envelope)
    let rules = context.envelope
    try validate(by: rules.value)
    if body.isEmpty, rules.value.isNone { return try JSON(Data("null".utf8), carrying: context) }
    let json = try json(carrying: context)
    try json.judge(by: rules.value)
    return json
  }
}

extension ObservableType where Element == Response {
  /// Parses the answer and judges it: by its HTTP status first, then by the code in its envelope (article row 0.20).
  ///
  /// - Parameter envelope: instead of the one of the back end that the answer came from.
  /// - Returns: the whole JSON, envelope included. Fails with a `NetworkError`: `status` with the server's message,
  ///   `business` with the server's code and message, or `parse`.
  public func common(_ envelope: Envelope? = nil) -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.common(envelope) } }
  }

  /// Makes a model of the value at `path` of the body when the status is a success (article rows 3.4, 3.5).
  ///
  /// - Parameters:
  ///   - type: any `Decodable`; an optional one takes null and an absent value as `nil`.
  ///   - path: such as `data.items[0].name`; without it, the whole body.
  ///   - decoder: instead of the back end's.
  ///   - failsOnEmptyData: whether an empty body is an error. If not, the model is made of `null`, `{}` or `[]`, whichever
  ///     it takes first.
  /// - Returns: the model, on the back end's `delivery` scheduler. A value that is absent or not as the model needs it is
  ///   an error of kind `parse` with its coding path.
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
  /// Parses the bytes and judges them by the code in their envelope: the given one, else `Network.default`'s.
  ///
  /// Runs where the source emits: a network's streams emit on the back end's `mapping` scheduler, others need
  /// `observeOn` to keep the work off the main thread.
  public func common(_ envelope: Envelope? = nil) -> Observable<JSON> {
    map { try JSON(received: $0).accepted(by: envelope) }
  }

  /// Makes a model of the value at `path`, as `Network.default` does; without it, of the whole.
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    map { try JSON(received: $0) }.map(type, at: path)
  }
}

extension ObservableType where Element == String {
  /// Parses the text and judges it by the code in its envelope: the given one, else `Network.default`'s
  /// (article row 0.20).
  ///
  /// Runs where the source emits, as for bytes.
  public func common(_ envelope: Envelope? = nil) -> Observable<JSON> {
    map { Data($0.utf8) }.common(envelope)
  }

  /// Makes a model of the value at `path`, as `Network.default` does; without it, of the whole.
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    map { Data($0.utf8) }.map(type, at: path)
  }
}

extension ObservableType where Element == JSON {
  /// Judges the JSON by the code in its envelope: the given one, else the one it carries, else `Network.default`'s. What
  /// has been judged already passes unchanged.
  public func common(_ envelope: Envelope? = nil) -> Observable<JSON> {
    compactMap { try $0.reporting { try $0.accepted(by: envelope) } }
  }

  /// Makes a model of the value at `path` from the root, beside the envelope's payload, too; without it, of the whole. What
  /// `json` gives has an envelope, as it has been judged: for an API without one, call `request(_:_:as:)` or `response`.
  @inlinable
  public func map<Model: Decodable & Sendable>(_ type: Model.Type, at path: String? = nil) -> Observable<Model> {
    delivering { try $0.model(type, at: path) }
  }
}

extension Single where Element == Response {
  /// Parses the answer and judges it: by its HTTP status first, then by the code in its envelope.
  public func common(_ envelope: Envelope? = nil) -> Observable<JSON> { asObservable().common(envelope) }

  /// Makes a model of the value at `path` of the body when the status is a success; without it, of the whole
  /// (article row 3.4). Parameters as on streams.
  public func map<Model: Decodable & Sendable>(
    _ type: Model.Type, at path: String? = nil, decoder: (any ModelDecoder)? = nil, failsOnEmptyData: Bool = true
  ) -> Single<Model> {
    asObservable().map(type, at: path, decoder: decoder, failsOnEmptyData: failsOnEmptyData).asSingle()
  }
}
