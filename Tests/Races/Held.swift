import Synchronization

/// A reference that any thread may set.
package final class Held<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  package init() {}

  package var value: Value? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
