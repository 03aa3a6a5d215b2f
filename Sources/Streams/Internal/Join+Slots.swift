/// What one source of a `zip` has sent and nobody has taken yet.
final class ZipSlot<Element: Sendable>: @unchecked Sendable {  // safe: touched only inside the drain of its join
  var queue = Queue<Element>()
  var closed = false

  var isReady: Bool { !queue.isEmpty }
  var isExhausted: Bool { closed && queue.isEmpty }
}

/// The latest element of one source of a `combineLatest`.
final class LatestSlot<Element: Sendable>: @unchecked Sendable {  // safe: touched only inside the drain of its join
  var latest: Element?
  var closed = false
}

/// Emits the results of a join whose element type is made of a pack.
///
/// The element is a type parameter here because a closure over a pack's tuple does not compile on Swift 6.3.
class JoinOf<Element: Sendable>: Join, @unchecked Sendable {  // safe: adds a constant
  private let next: Observable<Element>.Next

  init(_ downstream: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.next = next
    super.init(downstream)
  }

  final func emit(_ element: Element) { downstream.deliver(element, to: next) }
}

/// `zip` of any number of sources.
final class ZipJoin<each Element: Sendable>: JoinOf<(repeat each Element)>, @unchecked Sendable {
  // Safe: the slots are touched only inside the drain.
  private let slots: (repeat ZipSlot<each Element>)

  override init(_ downstream: Subscription, _ next: @escaping Observable<(repeat each Element)>.Next) {
    slots = (repeat ZipSlot<each Element>())
    super.init(downstream, next)
  }

  func start(_ sources: repeat Observable<each Element>) {
    repeat attach(each sources, each slots)
  }

  private func attach<One: Sendable>(_ source: Observable<One>, _ slot: ZipSlot<One>) {
    attach(source, put: { slot.queue.append($0) }, close: { slot.closed = true })
  }

  override func advance() {
    for slot in repeat each slots {
      if !slot.isReady { return }
    }
    guard let element = try? (repeat take(each slots)) else { return }
    emit(element)
    if isExhausted { downstream.complete() }
  }

  private func take<One: Sendable>(_ slot: ZipSlot<One>) throws -> One {
    guard let element = slot.queue.popFirst() else { throw StreamError.noElements }
    return element
  }

  /// A completed source that has nothing queued ends the whole (law 11).
  override var isExhausted: Bool {
    for slot in repeat each slots {
      if slot.isExhausted { return true }
    }
    return false
  }
}

/// `combineLatest` of any number of sources.
final class LatestJoin<each Element: Sendable>: JoinOf<(repeat each Element)>, @unchecked Sendable {
  // Safe: the slots are touched only inside the drain.
  private let slots: (repeat LatestSlot<each Element>)

  override init(_ downstream: Subscription, _ next: @escaping Observable<(repeat each Element)>.Next) {
    slots = (repeat LatestSlot<each Element>())
    super.init(downstream, next)
  }

  func start(_ sources: repeat Observable<each Element>) {
    repeat attach(each sources, each slots)
  }

  private func attach<One: Sendable>(_ source: Observable<One>, _ slot: LatestSlot<One>) {
    attach(source, put: { slot.latest = $0 }, close: { slot.closed = true })
  }

  override func advance() {
    for slot in repeat each slots {
      if slot.latest == nil { return }
    }
    guard let element = try? (repeat latest(each slots)) else { return }
    emit(element)
  }

  private func latest<One: Sendable>(_ slot: LatestSlot<One>) throws -> One {
    guard let element = slot.latest else { throw StreamError.noElements }
    return element
  }

  /// A source that completed without an element ends the whole, and so does the end of all (law 12).
  override var isExhausted: Bool {
    var allClosed = true
    for slot in repeat each slots {
      if slot.closed && slot.latest == nil { return true }
      if !slot.closed { allClosed = false }
    }
    return allClosed
  }
}
