import Streams
import Synchronization

/// The settings for reading a response, and the envelope that accepted it. A network has one for all its requests and
/// errors; JSON has its own, with the response that it was parsed from.
@usableFromInline
package final class ResponseContext: Sendable, ContextKey {
  @usableFromInline package static var defaultValue: ResponseContext? { nil }

  /// The backend's settings, the same object for all contexts of one network.
  fileprivate let home: Home
  /// The custom envelope and decoder of a call.
  private let chosenEnvelope: EnvelopeRules?
  private let chosenDecoder: (any ModelDecoder)?
  let isAccepted: Bool
  /// The response that the JSON was parsed from.
  let response: Response?

  final class Home: Sendable {
    let envelope: EnvelopeRules
    let decoder: any ModelDecoder
    let encoder: JSONParameterEncoder
    let messages: NetworkError.Messages
    let delivery: (any ImmediateSchedulerType)?
    let redaction: Redaction
    let onError: (@Sendable (NetworkError) -> Void)?
    let mapError: (@Sendable (NetworkError) -> NetworkError)?
    let observers: CallObservers?

    init(
      envelope: Envelope = .none, decoder: any ModelDecoder = JSONModelDecoder.default,
      encoder: JSONParameterEncoder = JSONParameterEncoder(), messages: NetworkError.Messages = .localized,
      delivery: (any ImmediateSchedulerType)? = nil, redaction: Redaction = .standard,
      onError: (@Sendable (NetworkError) -> Void)? = nil,
      mapError: (@Sendable (NetworkError) -> NetworkError)? = nil, observers: CallObservers? = nil
    ) {
      (self.envelope, self.decoder, self.encoder) = (EnvelopeRules(envelope), decoder, encoder)
      (self.messages, self.delivery, self.redaction) = (messages, delivery, redaction)
      (self.onError, self.mapError, self.observers) = (onError, mapError, observers)
    }
  }

  /// Guards the context of the default network, which any thread may set or read; only the reference is held under the lock.
  private static let chosen = Locked<ResponseContext?>(nil)
  private static let unconfigured = ResponseContext(Home())

  /// The context of responses and JSON that were created manually: that of the default network.
  static var standard: ResponseContext { chosen.withLock { $0 } ?? unconfigured }

  static func setStandard(_ context: ResponseContext) { chosen.withLock { $0 = context } }

  init(_ home: Home) {
    self.home = home
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

  var redaction: Redaction { home.redaction }
  package var envelope: EnvelopeRules { chosenEnvelope ?? home.envelope }
  var decoder: any ModelDecoder { chosenDecoder ?? home.decoder }
  var observers: CallObservers? { home.observers }
  var encoder: JSONParameterEncoder { home.encoder }
  @usableFromInline var delivery: (any ImmediateSchedulerType)? { home.delivery }

  /// Returns the same context for `response`, accepted by `envelope` or else by the context's own, or with another
  /// decoder.
  func with(
    response: Response? = nil, isAccepted: Bool = false, by envelope: Envelope? = nil,
    decoder: (any ModelDecoder)? = nil
  ) -> ResponseContext {
    ResponseContext(self, response: response, isAccepted: isAccepted, envelope: envelope, decoder: decoder)
  }

  package func error(
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

  /// Returns `error` with the backend's message for its kind, unless it has the words of a server or an app.
  package func translated(_ error: NetworkError) -> NetworkError {
    var known = error.carrying(self)
    known.message = error.words ?? home.messages.text(for: error.kind, status: error.response?.status)
    return known
  }

  /// Returns `error` as the backend sees it: mapped, then passed to the global handler, once.
  ///
  /// An error of another backend or of an interceptor keeps its words; only a text that was chosen for its kind is
  /// translated. The returned error is marked as reported, so that later operators do not report it again.
  ///
  /// - Parameter call: The request of a call that ends with the error, for the observers.
  package func report(_ error: any Error, from response: Response? = nil, ending call: Request? = nil) -> NetworkError {
    let wrapped = NetworkError.wrapping(error)
    var known =
      (error as? NetworkError)
      ?? self.error(wrapped.kind, wrapped.reason, message: wrapped.words, response: response, underlying: error)
    if known.reading?.home !== home { known = translated(known) }
    guard !known.context[IsReported.self] else {
      if call != nil { noteFailure(known, call) }
      return known
    }
    known = (home.mapError?(known) ?? known).carrying(self)
    known.context[IsReported.self] = true
    home.onError?(known)
    noteFailure(known, call)
    return known
  }

  private func noteFailure(_ error: NetworkError, _ call: Request?) {
    if let observers, let request = error.request ?? call { observers.note(.failed, of: request) { $0.error = error } }
  }

  /// Returns the result of `read`, and notes how long it took, as an event of `request`.
  func timed<Result>(_ request: @autoclosure () -> Request?, _ read: () throws -> Result) rethrows -> Result {
    guard let observers, let request = request() else { return try read() }
    let start = observers.clock.uptime
    defer { observers.note(.decoded, of: request) { $0.duration = $0.time - start } }
    return try read()
  }
}

/// An envelope in a reference type, which is passed around without copying its many names.
package final class EnvelopeRules: Sendable {
  package let value: Envelope
  /// The place of the code and its successes, apart from the form, whose payload would be copied for each response.
  let code: String?
  let success: Envelope.Success

  init(_ value: Envelope) {
    self.value = value
    switch value.form {
    case .code(let place, let success): (code, self.success) = (place, success)
    case .none, .failure: (code, success) = (nil, 200)
    }
  }
}

private enum IsReported: ContextKey { static let defaultValue = false }

extension NetworkError {
  var reading: ResponseContext? { context[ResponseContext.self] }

  /// The message, if it has the words of a server or an app: `nil` if a backend has only chosen it for the kind.
  var words: String? {
    let messages = reading?.home.messages ?? .localized
    return message == messages.text(for: kind, status: response?.status) ? nil : message
  }

  /// The same error, which the next `report` passes to the backend's handlers, as that of an attempt that is the last.
  package var unreported: NetworkError {
    var error = self
    error.context[IsReported.self] = false
    return error
  }

  fileprivate func carrying(_ context: ResponseContext) -> NetworkError {
    var error = self
    error.context[ResponseContext.self] = context
    error.redaction = context.home.redaction
    return error
  }
}

/// A response, or the JSON parsed from one, that carries the settings for reading it.
@usableFromInline
protocol Contextual: Sendable {
  var reading: ResponseContext { get }
  var cached: CachedResponse? { get }
}

extension Response: Contextual {
  /// The settings of its request's network, or the default network's for a response that was created manually.
  @usableFromInline package var reading: ResponseContext {
    context[ResponseContext.self] ?? requestContext[ResponseContext.self] ?? .standard
  }

  /// Returns an error of the body with the request and response of the head.
  func explaining(_ error: NetworkError) -> NetworkError {
    var error = context[ResponseContext.self]?.translated(error) ?? error
    error.request = error.request ?? request
    error.response = error.response ?? self
    return error
  }
}

extension JSON: Contextual {
  @usableFromInline var reading: ResponseContext { context as? ResponseContext ?? .standard }
  @usableFromInline var cached: CachedResponse? { reading.response?.cached }
}

extension Contextual {
  /// Returns the result of `transform`, and reports its error to the backend of this response. Returns `nil` instead of
  /// the error for a stored response that the server's response follows.
  @inlinable
  func reporting<Result>(_ transform: (Self) throws -> Result) throws -> Result? {
    do {
      return CallObservers.isUsed.load(ordering: .relaxed) ? try timed(transform) : try transform(self)
    } catch {
      if let error = reported(error) { throw error }
      return nil
    }
  }

  @usableFromInline
  func timed<Result>(_ transform: (Self) throws -> Result) throws -> Result {
    try reading.timed((self as? Response)?.request ?? reading.response?.request) { try transform(self) }
  }

  @usableFromInline
  func reported(_ error: any Error) -> NetworkError? {
    cached?.refuse(error)
    return cached?.isProvisional == true ? nil : reading.report(error, from: self as? Response)
  }
}
