import Streams

/// The back end's say on how its answers are read. One object per back end, so that answers carry it for one retain.
final class Rules: Sendable {
  let envelope: Envelope
  let decoder: any ModelDecoder
  let messages: Messages
  /// Where the last operator of a pipeline delivers; `nil` is no hop.
  let delivery: (any ImmediateSchedulerType)?

  /// What errors' descriptions hide.
  let redaction: Redaction
  /// The global error handler.
  let onError: (@Sendable (NetworkError) -> Void)?
  /// What the back end makes of errors.
  let mapError: (@Sendable (NetworkError) -> NetworkError)?

  init(_ backend: Backend) {
    envelope = backend.envelope
    decoder = backend.decoder
    messages = backend.messages
    delivery = backend.delivery
    redaction = backend.redaction
    onError = backend.onError
    mapError = backend.mapError
  }

  /// The same rules with another decoder.
  func decoding(with decoder: any ModelDecoder) -> Rules { Rules(self, decoder: decoder) }

  private init(_ other: Rules, decoder: any ModelDecoder) {
    envelope = other.envelope
    self.decoder = decoder
    messages = other.messages
    delivery = other.delivery
    redaction = other.redaction
    onError = other.onError
    mapError = other.mapError
  }

  /// Whether anyone wants to hear of errors.
  var handlesErrors: Bool { onError != nil || mapError != nil }
}

extension NetworkError {
  /// The same error as the back end sees it, once: mapped, then handed to the global handler (article row 1.6).
  ///
  /// It carries that it has been there, so that the operators behind do not report it again.
  func reported(to fallback: Rules? = nil) -> NetworkError {
    guard !isReported, let rules = rules ?? fallback else { return self }
    var error = rules.mapError?(self) ?? self
    error.rules = rules
    error.isReported = true
    rules.onError?(error)
    return error
  }
}

extension Ruled {
  /// What `transform` makes of this; the error it throws is reported to the back end that this came from.
  func reporting<Result>(_ transform: (Self) throws -> Result) throws -> Result {
    do {
      return try transform(self)
    } catch {
      throw failure(error).reported(to: rules)
    }
  }

  /// The same; `nil` in place of the error for a stored answer that the server's follows.
  func reportingLast<Result>(_ transform: (Self) throws -> Result) throws -> Result? {
    do {
      return try transform(self)
    } catch {
      let error = failure(error)
      if cached?.isProvisional == true { return nil }
      throw error.reported(to: rules)
    }
  }

  private func failure(_ error: any Error) -> NetworkError {
    let error = NetworkError.wrapping(error, from: self as? Response, rules: rules)
    if error.kind.discreditsStored { cached?.refuse() }
    return error
  }

  private var cached: CachedAnswer? { (self as? Response)?.cached ?? (self as? JSON)?.origin?.response?.cached }
}

/// What a `JSON` from the network carries: who judges it, where it came from, and whether it has been judged.
struct Provenance: Sendable {
  var rules: Rules
  var response: Response?
  /// The envelope that accepted it; `nil` before `common`.
  var accepted: Envelope?
}

extension JSON {
  var origin: Provenance? { context as? Provenance }
}
