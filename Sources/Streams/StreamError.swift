/// An error raised by the operators themselves.
public struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
  private let name: String
  /// The cause of the error, as text.
  public let description: String

  /// No event arrived before the timeout.
  public static let timeout = StreamError(
    name: "timeout", description: "no event arrived within the time given to timeout(_:scheduler:)")
  /// A stream that must emit exactly one element completed without one (contract, law 29).
  public static let noElements = StreamError(
    name: "noElements", description: "the stream completed without an element where exactly one was expected")
  /// A stream that must emit exactly one element emitted a second one (contract, law 29).
  public static let moreThanOneElement = StreamError(
    name: "moreThanOneElement", description: "the stream has more than one element where exactly one was expected")
  /// The stream was disposed before it emitted the awaited result (contract, law 30).
  public static let disposed = StreamError(
    name: "disposed", description: "the subscription was disposed before the awaited result arrived")

  /// Compares the kinds of the errors and ignores their descriptions.
  public static func == (left: StreamError, right: StreamError) -> Bool { left.name == right.name }

  /// Hashes the kind of the error.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Matches an error of any type, so that `catch StreamError.timeout` works.
  public static func ~= (pattern: StreamError, error: any Error) -> Bool { (error as? StreamError) == pattern }
}
