/// An event of a stream: any number of `next` events, then at most one `error` or `completed` (contract, law 1).
public enum Event<Element: Sendable>: Sendable {
  /// The next element.
  case next(Element)
  /// The stream failed with this error; no events follow.
  case error(any Error)
  /// The stream completed; no events follow.
  case completed

  /// Whether this is a terminal event: `error` or `completed`.
  public var isStopEvent: Bool { if case .next = self { false } else { true } }

  /// The element of a `next` event, or `nil`.
  public var element: Element? { if case .next(let element) = self { element } else { nil } }

  /// The error of an `error` event, or `nil`.
  public var error: (any Error)? { if case .error(let error) = self { error } else { nil } }

  /// Whether this is `completed`.
  public var isCompleted: Bool { if case .completed = self { true } else { false } }

  /// Returns the event with its element transformed, or an `error` event if `transform` throws (contract, law 7).
  public func map<Result>(_ transform: (Element) throws -> Result) -> Event<Result> {
    switch self {
    case .next(let element):
      do { return .next(try transform(element)) } catch { return .error(error) }
    case .error(let error): return .error(error)
    case .completed: return .completed
    }
  }
}

extension Event: CustomDebugStringConvertible {
  /// A textual representation: `next(…)`, `error(…)` or `completed`.
  public var debugDescription: String {
    switch self {
    case .next(let element): "next(\(element))"
    case .error(let error): "error(\(error))"
    case .completed: "completed"
    }
  }
}

extension Event: Equatable where Element: Equatable {
  /// Compares elements by value and errors by their descriptions.
  public static func == (left: Event, right: Event) -> Bool {
    switch (left, right) {
    case (.next(let a), .next(let b)): a == b
    case (.error(let a), .error(let b)): String(reflecting: a) == String(reflecting: b)
    case (.completed, .completed): true
    default: false
    }
  }
}
