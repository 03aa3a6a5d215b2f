import Streams

/// The back end's say on how its answers are read. One object per back end, so that answers carry it for one retain.
final class Rules: Sendable {
  let envelope: Envelope
  let decoder: any ModelDecoder
  let messages: Messages
  /// Where the last operator of a pipeline delivers; `nil` is no hop.
  let delivery: (any ImmediateSchedulerType)?

  init(
    envelope: Envelope = Envelope(), decoder: any ModelDecoder = JSONModelDecoder.default,
    messages: Messages = .localized, delivery: (any ImmediateSchedulerType)? = nil
  ) {
    self.envelope = envelope
    self.decoder = decoder
    self.messages = messages
    self.delivery = delivery
  }
}

/// What a `JSON` from the network carries: who judges it, where it came from, and whether it has been judged.
struct Origin: Sendable {
  var rules: Rules
  var response: Response?
  /// The envelope that accepted it; `nil` before `common`.
  var accepted: Envelope?
}

extension JSON {
  var origin: Origin? { context as? Origin }
}
