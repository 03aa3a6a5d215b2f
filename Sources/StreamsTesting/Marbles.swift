import Streams

/// Reads marble strings: one character a unit of virtual time.
///
///     -a--(bc)-d-|
///
/// `-` and nothing else passes a unit; a letter or digit is an element; `|` completes; `#` fails with `TestError()`;
/// events in parentheses share the time of the opening one, and the group takes one unit. Spaces are for
/// alignment only.
public enum Marbles {
  /// The events that `marbles` draws, from time `start`.
  ///
  /// - Precondition: the string is well formed; a test with a wrong one stops with its place.
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
          character.isLetter || character.isNumber, "'\(character)' at \(offset) is no marble in '\(marbles)'")
        events.append(.next(time, String(character)))
      }
      if !inGroup { time += 1 }
    }
    precondition(!inGroup, "'(' is not closed in marbles '\(marbles)'")
    return events
  }

  /// The events that `marbles` draws, with the element that `values` has for each character.
  ///
  /// - Precondition: the string is well formed and every element has a value.
  public static func parse<Element: Sendable>(
    _ marbles: String, _ values: [String: Element], from start: TestTime = 0
  ) -> [Recorded<Event<Element>>] {
    parse(marbles, from: start).map { event in
      Recorded(
        time: event.time,
        value: event.value.map { name in
          guard let value = values[name] else {
            preconditionFailure("marble '\(name)' of '\(marbles)' has no value; known are \(values.keys.sorted())")
          }
          return value
        })
    }
  }
}

extension TestScheduler {
  /// A hot source drawn as marbles; its elements are the characters.
  public func hot(_ marbles: String) -> TestableObservable<String> { createHotObservable(Marbles.parse(marbles)) }

  /// A hot source drawn as marbles, with a value for each character.
  public func hot<Element>(_ marbles: String, _ values: [String: Element]) -> TestableObservable<Element> {
    createHotObservable(Marbles.parse(marbles, values))
  }

  /// A cold source drawn as marbles; its elements are the characters.
  public func cold(_ marbles: String) -> TestableObservable<String> { createColdObservable(Marbles.parse(marbles)) }

  /// A cold source drawn as marbles, with a value for each character.
  public func cold<Element>(_ marbles: String, _ values: [String: Element]) -> TestableObservable<Element> {
    createColdObservable(Marbles.parse(marbles, values))
  }

  /// What `source` emits when it is subscribed at time 0 and disposed at `disposed`.
  public func record<Element>(
    disposed: TestTime = TestScheduler.disposed, _ source: Observable<Element>
  ) -> [Recorded<Event<Element>>] {
    start(created: 0, subscribed: 0, disposed: disposed) { source }.events
  }
}
