import Streams

/// How an answer is read, and by whom it was accepted: carried by responses, by the JSON made of them and by the errors
/// about them.
///
/// A network has one for all its responses; JSON has one of its own, with the response that it was made of.
@usableFromInline
final class ResponseContext: Sendable, ContextKey {
  @usableFromInline static var defaultValue: ResponseContext? { nil }

  /// What the backend says, the same object for all contexts of one network.
  fileprivate let home: Home
  /// An envelope and a decoder of the call's own.
  private let chosenEnvelope: EnvelopeRules?
  private let chosenDecoder: (any ModelDecoder)?
  /// Whether an envelope has accepted the JSON.
  let isAccepted: Bool
  /// The response that the JSON was made of.
  let response: Response?

  fileprivate final class Home: Sendable {
    let envelope: EnvelopeRules
    let decoder: any ModelDecoder
    let messages: Messages
    let delivery: (any ImmediateSchedulerType)?
    let redaction: Redaction
    let onError: (@Sendable (NetworkError) -> Void)?
    let mapError: (@Sendable (NetworkError) -> NetworkError)?

    init(_ backend: Backend) {
      (envelope, decoder, messages) = (EnvelopeRules(backend.envelope), backend.decoder, backend.messages)
      (delivery, redaction) = (backend.delivery, backend.redaction)
      (onError, mapError) = (backend.onError, backend.mapError)
    }
  }

  init(_ backend: Backend) {
    home = Home(backend)
    (chosenEnvelope, chosenDecoder, isAccepted, response) = (nil, nil, false, nil)
  }

  private init(
    _ other: ResponseContext, response: Response?, isAccepted: Bool, envelope: Envelope?, decoder: (any ModelDecoder)?
  ) {
    home = other.home
    self.response = response ?? other.response
    self.isAccepted = isAccepted || other.isAccepted
    chosenEnvelope = envelope.map(EnvelopeRules.init) ?? other.chosenEnvelope
    chosenDecoder = decoder ?? other.chosenDecoder
  }

  /// The envelope that has accepted the JSON, or that is to judge it.
  var envelope: EnvelopeRules { chosenEnvelope ?? home.envelope }
  var decoder: any ModelDecoder { chosenDecoder ?? home.decoder }
  /// Where the last operator of a pipeline delivers; `nil` is no hop.
  @usableFromInline var delivery: (any ImmediateSchedulerType)? { home.delivery }

  /// The same for `response`, accepted by `envelope` or else by its own one, or read with another decoder.
  func with(
    response: Response? = nil, isAccepted: Bool = false, by envelope: Envelope? = nil,
    decoder: (any ModelDecoder)? = nil
  ) -> ResponseContext {
    ResponseContext(self, response: response, isAccepted: isAccepted, envelope: envelope, decoder: decoder)
  }

  /// An error about the answer, with the backend's message for its kind.
  func error(
    _ kind: NetworkError.Kind, _ reason: String, code: Int? = nil, message: String? = nil, response: Response? = nil,
    underlying: (any Error)? = nil, at codingPath: [String] = []
  ) -> NetworkError {
    let response = response ?? self.response
    return NetworkError(
      kind: kind, code: code, message: message ?? home.messages.text(for: kind, status: response?.status),
      reason: reason,
      response: response, underlying: underlying, codingPath: codingPath
    ).carrying(self)
  }

  /// `error` with the message that the backend has for its kind. For errors from below the envelope only: above it, the
  /// server's own words may stand in the message.
  func translated(_ error: NetworkError) -> NetworkError {
    var error = error.carrying(self)
    error.message = home.messages.text(for: error.kind, status: error.response?.status)
    return error
  }

  /// `error` as the backend sees it, once: mapped, then handed to the global handler.
  ///
  /// An error that is no `NetworkError` becomes one of kind `other`. One that happened on another backend, whose call this
  /// one shares, is translated. The error carries that it was here, so that the operators behind do not report it again.
  func report(_ error: any Error, from response: Response? = nil) -> NetworkError {
    var known = (error as? NetworkError) ?? self.error(.other, "\(error)", response: response, underlying: error)
    if let other = known.reading, other.home !== home { known = translated(known) }
    guard !known.context[IsReported.self] else { return known }
    known = (home.mapError?(known) ?? known).carrying(self)
    known.context[IsReported.self] = true
    home.onError?(known)
    return known
  }
}

/// An envelope that is passed around without a copy of its many names.
final class EnvelopeRules: Sendable {
  let value: Envelope
  init(_ value: Envelope) { self.value = value }
}

/// Whether the backend's error handler has had an error already.
private enum IsReported: ContextKey {
  static let defaultValue = false
}

extension NetworkError {
  /// The context of the backend that it happened on, put there by the network.
  var reading: ResponseContext? { context[ResponseContext.self] }

  /// The same error, whose texts hide what the backend hides.
  fileprivate func carrying(_ context: ResponseContext) -> NetworkError {
    var error = self
    error.context[ResponseContext.self] = context
    error.redaction = context.home.redaction
    return error
  }
}

/// A response, or the JSON made of one: an answer that carries how it is read.
@usableFromInline
protocol Contextual: Sendable {
  var reading: ResponseContext { get }
  /// The cached answer that it is, if it is one.
  var cached: CachedAnswer? { get }
}

extension Response: Contextual {
  /// The context that the network has put there; of a response that was made by hand, the default network's.
  @usableFromInline var reading: ResponseContext { context[ResponseContext.self] ?? Network.default.reading }
}

extension JSON: Contextual {
  @usableFromInline var reading: ResponseContext { context as? ResponseContext ?? Network.default.reading }
  @usableFromInline var cached: CachedAnswer? { reading.response?.cached }
}

extension Contextual {
  /// What `transform` makes of this; the error it throws is reported to the backend that this came from. `nil` in place of
  /// the error for a stored answer that the server's follows.
  @inlinable
  func reporting<Result>(_ transform: (Self) throws -> Result) throws -> Result? {
    do {
      return try transform(self)
    } catch {
      if let error = reported(error) { throw error }
      return nil
    }
  }

  @usableFromInline
  func reported(_ error: any Error) -> NetworkError? {
    cached?.refuse(error)
    return cached?.isProvisional == true ? nil : reading.report(error, from: self as? Response)
  }
}
