import PortableFoundation

/// A value that a network and its copies by `with` share, such as the list of their live queries.
package protocol SharedValue: AnyObject, Sendable {
  init()
  /// Called after each invalidation, on the thread that invalidates.
  func invalidate(_ data: Invalidation)
}

/// The shared values of a network and its copies: one of each type, created when it is first used.
package final class SharedValues: Sendable {
  /// Guards the list. The values are called outside the lock.
  private let values = Locked<[ObjectIdentifier: any SharedValue]>([:])

  package subscript<Value: SharedValue>(type: Value.Type) -> Value {
    values.withLock { values in
      if let value = values[ObjectIdentifier(type)] as? Value { return value }
      let value = Value()
      values[ObjectIdentifier(type)] = value
      return value
    }
  }

  func invalidate(_ data: Invalidation) {
    for value in values.withLock({ $0 }).values { value.invalidate(data) }
  }
}
