import Streams

/// A value together with the virtual time at which it was recorded.
public struct Recorded<Value: Sendable>: Sendable, CustomDebugStringConvertible {
  /// The virtual time.
  public let time: TestTime
  /// The value.
  public let value: Value

  /// Creates a record of `value` at `time`.
  public init(time: TestTime, value: Value) {
    self.time = time
    self.value = value
  }

  /// The text `value @ time`.
  public var debugDescription: String { "\(value) @ \(time)" }

  /// Creates a record of an element.
  public static func next<Element>(_ time: TestTime, _ element: Element) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .next(element))
  }

  /// Creates a record of an error.
  public static func error<Element>(_ time: TestTime, _ error: any Error = TestError()) -> Recorded
  where Value == Event<Element> {
    Recorded(time: time, value: .error(error))
  }

  /// Creates a record of a completion.
  public static func completed<Element>(_ time: TestTime) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .completed)
  }
}

extension Recorded: Equatable where Value: Equatable {}

/// An error for tests; `#` in marble strings.
public struct TestError: Error, Hashable, Sendable {
  /// The name that distinguishes this error from others.
  public let name: String

  /// Creates an error with a name that distinguishes it from others.
  public init(_ name: String = "#") { self.name = name }
}

/// The virtual time span during which a test source was subscribed.
public struct TestSubscription: Hashable, Sendable, CustomDebugStringConvertible {
  /// The virtual time of the subscription.
  public let subscribe: TestTime
  /// The virtual time of the disposal, or `Int.max` if the subscription was not disposed.
  public let unsubscribe: TestTime

  /// Creates a time span.
  public init(_ subscribe: TestTime, _ unsubscribe: TestTime = .max) {
    self.subscribe = subscribe
    self.unsubscribe = unsubscribe
  }

  /// The text `(subscribe : unsubscribe)`.
  public var debugDescription: String { "(\(subscribe) : \(unsubscribe == .max ? "∞" : "\(unsubscribe)"))" }
}
