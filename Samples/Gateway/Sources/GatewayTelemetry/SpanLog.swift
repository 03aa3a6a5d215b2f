import Logging
import Synchronization
import Tracing

/// A tracer that logs each span at the level `debug` and sends `traceparent` (W3C Trace Context): a stand-in for swift-otel.
package struct SpanLog: Tracer {
  private let logger: Logger

  package init(_ logger: Logger) { self.logger = logger }

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> LoggedSpan {
    let parent = context()
    var own = parent
    own[TraceParent.self] = TraceParent(of: parent[TraceParent.self])
    return LoggedSpan(operationName, own, parent[TraceParent.self], kind, instant().nanosecondsSinceEpoch, logger)
  }

  package func forceFlush() {}

  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Carrier == Inject.Carrier {
    guard let own = context[TraceParent.self] else { return }
    injector.inject("00-\(own.trace)-\(own.span)-01", forKey: "traceparent", into: &carrier)
  }

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Carrier == Extract.Carrier {
    context[TraceParent.self] = extractor.extract(key: "traceparent", from: carrier).flatMap(TraceParent.init)
  }
}

/// The identifiers of a span and its trace, in hexadecimal.
private struct TraceParent: ServiceContextKey {
  typealias Value = TraceParent

  let trace: String
  let span: String

  init(of parent: TraceParent?) {
    trace = parent?.trace ?? Self.random() + Self.random()
    span = Self.random()
  }

  /// Reads a header field such as `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
  init?(_ field: String) {
    let parts = field.split(separator: "-")
    guard parts.count >= 4, parts[1].count == 32, parts[2].count == 16 else { return nil }
    (trace, span) = (String(parts[1]), String(parts[2]))
  }

  private static func random() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A span that is logged at its end.
package final class LoggedSpan: Span {
  package let context: ServiceContext
  private let parent: TraceParent?
  private let kind: SpanKind
  private let start: UInt64
  private let logger: Logger
  private let state: Mutex<State>

  private struct State {
    var name: String
    var attributes: SpanAttributes = [:]
    var status: SpanStatus?
    var isEnded = false
  }

  fileprivate init(
    _ name: String, _ context: ServiceContext, _ parent: TraceParent?, _ kind: SpanKind, _ start: UInt64,
    _ logger: Logger
  ) {
    (self.context, self.parent, self.kind, self.start, self.logger) = (context, parent, kind, start, logger)
    state = Mutex(State(name: name))
  }

  package var operationName: String {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }
  package var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }
  package var isRecording: Bool { state.withLock { !$0.isEnded } }
  package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
  package func addEvent(_ event: SpanEvent) {}
  package func addLink(_ link: SpanLink) {}
  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    state.withLock { $0.attributes["exception.message"] = "\(error)" }
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let microseconds = (instant().nanosecondsSinceEpoch - start) / 1000
    let ended = state.withLock { state -> State? in
      defer { state.isEnded = true }
      return state.isEnded ? nil : state
    }
    guard let ended, let own = context[TraceParent.self], logger.logLevel <= .debug else { return }
    var metadata: Logger.Metadata = [
      "trace": "\(own.trace)", "span": "\(own.span)", "kind": "\(kind)", "us": "\(microseconds)",
    ]
    if let parent { metadata["parent"] = "\(parent.span)" }
    if ended.status?.code == .error { metadata["error"] = "true" }
    ended.attributes.forEach { metadata[$0] = "\($1.toSpanAttribute())" }
    logger.debug("\(ended.name)", metadata: metadata)
  }
}
