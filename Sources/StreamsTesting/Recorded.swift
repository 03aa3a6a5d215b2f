import Streams

/// A value and the virtual time at which it was there.
public struct Recorded<Value: Sendable>: Sendable, CustomDebugStringConvertible {
  /// The virtual time.
  public let time: TestTime
  /// The value.
  public let value: Value

  /// A value at a time.
  public init(time: TestTime, value: Value) {
    self.time = time
    self.value = value
  }

  /// `value @ time`.
  public var debugDescription: String { "\(value) @ \(time)" }

  /// An element at a time.
  public static func next<Element>(_ time: TestTime, _ element: Element) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .next(element))
  }

  /// An error at a time.
  public static func error<Element>(_ time: TestTime, _ error: any Error = TestError()) -> Recorded
  where Value == Event<Element> {
    Recorded(time: time, value: .error(error))
  }

  /// Completion at a time.
  public static func completed<Element>(_ time: TestTime) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .completed)
  }
}

extension Recorded: Equatable where Value: Equatable {}

/// The error of tests that need any error: `#` in marble strings.
public struct TestError: Error, Hashable, Sendable {
  /// Tells one from another.
  public let name: String

  /// An error, told from others by `name`.
  public init(_ name: String = "#") { self.name = name }
}

/// When a test source was subscribed, and until when.
public struct TestSubscription: Hashable, Sendable, CustomDebugStringConvertible {
  /// The virtual time of the subscription.
  public let subscribe: TestTime
  /// The virtual time of the disposal; `Int.max` when there was none.
  public let unsubscribe: TestTime

  /// A span of virtual time.
  public init(_ subscribe: TestTime, _ unsubscribe: TestTime = .max) {
    self.subscribe = subscribe
    self.unsubscribe = unsubscribe
  }

  /// `(from : to)`.
  public var debugDescription: String { "(\(subscribe) : \(unsubscribe == .max ? "∞" : "\(unsubscribe)"))" }
}
