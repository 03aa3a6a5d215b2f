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

/// The data that may have changed on the server.
package enum Invalidation: Sendable {
  case tags(Set<CacheTag>)
  /// The data of the method and the URL of a request.
  case endpoint(Request)
  case everything

  /// The names of the data; `nil` for everything.
  package var names: [String]? {
    switch self {
    case .tags(let tags): tags.map(Self.name)
    case .endpoint(let request): [Self.name(request)]
    case .everything: nil
    }
  }

  package static func name(_ tag: CacheTag) -> String { "tag \(tag.rawValue)" }
  package static func name(_ request: Request) -> String { "\(request.method) \(CacheKey.stable(request.url))" }
}
