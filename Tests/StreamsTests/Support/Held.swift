import Streams

/// A reference that any thread may set.
final class Held<Value: Sendable>: Sendable {
  private let stored = Locked<Value?>(nil)

  var value: Value? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
