/// An error that the operators themselves raise.
public struct StreamError: Error, Hashable, Sendable, CustomStringConvertible {
  private let name: String
  /// What went wrong and what to do about it.
  public let description: String

  /// Nothing arrived in time.
  public static let timeout = StreamError(
    name: "timeout", description: "no event arrived within the time given to timeout(_:scheduler:)")
  /// A single element was asked of a stream that completed without one (law 29).
  public static let noElements = StreamError(
    name: "noElements", description: "the stream completed without an element where exactly one was expected")
  /// A single element was asked of a stream that has more (law 29).
  public static let moreThanOneElement = StreamError(
    name: "moreThanOneElement", description: "the stream has more than one element where exactly one was expected")
  /// The stream was disposed before it gave the result that was awaited (law 30).
  public static let disposed = StreamError(
    name: "disposed", description: "the subscription was disposed before the awaited result arrived")

  /// Two errors are the same when they are of the same sort.
  public static func == (left: StreamError, right: StreamError) -> Bool { left.name == right.name }

  /// Hashes the sort.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Lets `catch StreamError.timeout` match.
  public static func ~= (pattern: StreamError, error: any Error) -> Bool { (error as? StreamError) == pattern }
}
