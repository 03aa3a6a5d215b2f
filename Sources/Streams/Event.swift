/// One event of a stream: any number of `next`, then at most one `error` or `completed` (law 1).
public enum Event<Element: Sendable>: Sendable {
  /// The next element.
  case next(Element)
  /// The stream failed; nothing follows.
  case error(any Error)
  /// The stream ended well; nothing follows.
  case completed

  /// Whether nothing can follow this event.
  public var isStopEvent: Bool {
    if case .next = self { return false }
    return true
  }

  /// The element of a `next` event.
  public var element: Element? {
    if case .next(let element) = self { return element }
    return nil
  }

  /// The error of an `error` event.
  public var error: (any Error)? {
    if case .error(let error) = self { return error }
    return nil
  }

  /// Whether this is `completed`.
  public var isCompleted: Bool {
    if case .completed = self { return true }
    return false
  }

  /// The same event with its element transformed; what `transform` throws becomes an `error` event (law 7).
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
  /// `next(…)`, `error(…)` or `completed`.
  public var debugDescription: String {
    switch self {
    case .next(let element): "next(\(element))"
    case .error(let error): "error(\(error))"
    case .completed: "completed"
    }
  }
}

extension Event: Equatable where Element: Equatable {
  /// Elements compare by value, errors by their description.
  public static func == (left: Event, right: Event) -> Bool {
    switch (left, right) {
    case (.next(let a), .next(let b)): a == b
    case (.error(let a), .error(let b)): String(reflecting: a) == String(reflecting: b)
    case (.completed, .completed): true
    default: false
    }
  }
}
