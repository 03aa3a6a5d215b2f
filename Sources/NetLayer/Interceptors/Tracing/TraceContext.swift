import PortableFoundation

/// The position of a request in a distributed trace, carried by the fields `traceparent` and `tracestate` (W3C Trace
/// Context, level 1).
public struct TraceContext: Hashable, Sendable {
  /// The context of the current task, which a ``TraceInterceptor`` continues by default.
  @TaskLocal public static var current: TraceContext?

  /// The identifier of the trace: 32 lowercase hexadecimal digits.
  public let traceID: String
  /// The identifier of the span: 16 lowercase hexadecimal digits.
  public let spanID: String
  /// The trace flags. Bit 0 means that the caller may have recorded the trace.
  public let flags: UInt8
  /// The vendor-specific data of `tracestate`; empty by default.
  public let state: String

  /// Whether the caller may have recorded the trace.
  public var isSampled: Bool { flags & 1 == 1 }

  /// Creates a new trace with random identifiers.
  public init(isSampled: Bool = true) {
    self.init(
      traceID: Self.randomID(digits: 32), spanID: Self.randomID(digits: 16), flags: isSampled ? 1 : 0, state: "")
  }

  /// Parses the fields of a received request; `nil` if `traceparent` is not valid (W3C Trace Context §3.2).
  ///
  /// A `tracestate` of more than 512 characters is dropped (§3.3.1.5).
  public init?(traceparent: String, tracestate: String = "") {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, Self.isHex(parts[0], 2), Self.isHex(parts[1], 32), Self.isHex(parts[2], 16),
      Self.isHex(parts[3], 2), let flags = UInt8(parts[3], radix: 16),
      // Later versions may have more parts.
      parts[0] != "ff", parts.count == 4 || parts[0] != "00",
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
    else { return nil }
    self.init(
      traceID: String(parts[1]), spanID: String(parts[2]), flags: flags,
      state: tracestate.utf8.count > 512 ? "" : tracestate)
  }

  private init(traceID: String, spanID: String, flags: UInt8, state: String) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
    self.state = state
  }

  /// Returns a new span of the same trace.
  public func child() -> TraceContext {
    // A later version's flags are unknown, so only the first bit is propagated (§4.3).
    TraceContext(traceID: traceID, spanID: Self.randomID(digits: 16), flags: flags & 1, state: state)
  }

  /// The value of the `traceparent` field, version 00.
  public var traceparent: String { "00-\(traceID)-\(spanID)-\(flags.hex(digits: 2))" }

  private static func isHex(_ text: Substring, _ count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { $0.isDigit || 0x61...0x66 ~= $0 }
  }

  /// Returns random digits; an identifier that consists only of zeros is not valid.
  private static func randomID(digits: Int) -> String {
    stride(from: 0, to: digits, by: 16).map { _ in UInt64.random(in: 1 ... .max).hex(digits: 16) }.joined()
  }
}

private enum TraceKey: ContextKey { static let defaultValue: TraceContext? = nil }

extension Request {
  /// The trace that the request belongs to, set by a ``TraceInterceptor``; `nil` for none.
  public var trace: TraceContext? {
    get { context[TraceKey.self] }
    set { context[TraceKey.self] = newValue }
  }
}
