import Foundation
import HTTPTransport
import Streams
import Synchronization

/// Lines that several threads record.
package final class Notes: Sendable {
  package init() {}
  private let notes = Locked<[String]>([])
  package var all: [String] { notes.withLock { $0 } }
  package func add(_ note: String) { notes.withLock { $0.append(note) } }
}

/// A counter that several threads share.
package final class Counter: Sendable {
  package init() {}
  private let count = Atomic(0)
  package var value: Int { count.load(ordering: .acquiring) }
  @discardableResult package func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}

/// A value that several threads share. Closures cannot capture `Locked`.
package final class Box<Value: Sendable>: Sendable {
  private let stored: Locked<Value>
  package init(_ value: Value) { stored = Locked(value) }
  package var value: Value {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
  package func update<Result>(_ change: (inout Value) -> Result) -> Result { stored.withLock { change(&$0) } }
}

extension Request {
  package var text: String { if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { "" } }
}
