import Streams

/// A parser for marble strings, in which each character is one unit of virtual time.
///
///     -a--(bc)-d-|
///
/// - `-` passes one unit without an event.
/// - A letter or digit is an element.
/// - `|` completes the stream.
/// - `#` fails the stream with `TestError()`.
/// - Events in parentheses share the time of the opening parenthesis; the group takes one unit.
/// - Spaces are ignored; use them for alignment.
public enum Marbles {
  /// Returns the events that `marbles` describes, starting at time `start`.
  ///
  /// - Precondition: The string is well formed; otherwise the test stops with the position of the mistake.
  public static func parse(_ marbles: String, from start: TestTime = 0) -> [Recorded<Event<String>>] {
    var events: [Recorded<Event<String>>] = []
    var time = start
    var inGroup = false
    for (offset, character) in marbles.enumerated() {
      switch character {
      case " ": continue
      case "-": precondition(!inGroup, "'-' inside a group at \(offset) of marbles '\(marbles)'")
      case "(":
        precondition(!inGroup, "'(' inside a group at \(offset) of marbles '\(marbles)'")
        inGroup = true
        continue
      case ")":
        precondition(inGroup, "')' without '(' at \(offset) of marbles '\(marbles)'")
        inGroup = false
      case "|": events.append(.completed(time))
      case "#": events.append(.error(time))
      default:
        precondition(
          character.isLetter || character.isNumber, "'\(character)' at \(offset) is not a marble in '\(marbles)'")
        events.append(.next(time, String(character)))
      }
      if !inGroup { time += 1 }
    }
    precondition(!inGroup, "'(' is not closed in marbles '\(marbles)'")
    return events
  }

  /// Returns the events that `marbles` describes, replacing each character with its element in `values`.
  ///
  /// - Precondition: The string is well formed and every character has an element.
  public static func parse<Element: Sendable>(
    _ marbles: String, _ values: [String: Element], from start: TestTime = 0
  ) -> [Recorded<Event<Element>>] {
    parse(marbles, from: start).map { event in
      Recorded(
        time: event.time,
        value: event.value.map { name in
          guard let value = values[name] else {
            preconditionFailure(
              "marble '\(name)' of '\(marbles)' has no element; the known marbles are \(values.keys.sorted())")
          }
          return value
        })
    }
  }
}

extension TestScheduler {
  /// Creates a hot source from a marble string; its elements are the characters.
  ///
  /// It sends its terminal event also to observers that subscribe later, as `PublishSubject` does (contract, law 26). The
  /// hot source of RxTest does not.
  public func hot(_ marbles: String) -> TestableObservable<String> { createHotObservable(Marbles.parse(marbles)) }

  /// Creates a hot source from a marble string, replacing each character with its element in `values`.
  public func hot<Element>(_ marbles: String, _ values: [String: Element]) -> TestableObservable<Element> {
    createHotObservable(Marbles.parse(marbles, values))
  }

  /// Creates a cold source from a marble string; its elements are the characters.
  public func cold(_ marbles: String) -> TestableObservable<String> { createColdObservable(Marbles.parse(marbles)) }

  /// Creates a cold source from a marble string, replacing each character with its element in `values`.
  public func cold<Element>(_ marbles: String, _ values: [String: Element]) -> TestableObservable<Element> {
    createColdObservable(Marbles.parse(marbles, values))
  }

  /// Subscribes to `source` at time 0, disposes the subscription at `disposed`, and returns the recorded events.
  public func record<Element>(
    disposed: TestTime = TestScheduler.disposed, _ source: Observable<Element>
  ) -> [Recorded<Event<Element>>] {
    start(created: 0, subscribed: 0, disposed: disposed) { source }.events
  }
}
