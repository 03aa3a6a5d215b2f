import Foundation
import NetLayer
import Streams
import Synchronization

/// Lines that several threads write down.
final class Notes: Sendable {
  private let notes = Locked<[String]>([])
  var all: [String] { notes.withLock { $0 } }
  func add(_ note: String) { notes.withLock { $0.append(note) } }
}

/// Counts on several threads.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  @discardableResult func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}

extension Request {
  var text: String { if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { "" } }
}
