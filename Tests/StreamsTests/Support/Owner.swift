import Streams

/// An object with a log, for operators that hold one weakly.
final class Owner: Sendable {
  let log: Log<String>
  init(_ log: Log<String>) { self.log = log }
}
