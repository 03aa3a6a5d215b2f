/// A combination of several sources: the implementation of `zip` and `combineLatest`.
///
/// Each source has a slot. Events enter one drain, inside which the slots change and results are emitted.
class Join<Output: Sendable>: @unchecked Sendable {  // safe: all mutable state is used only inside the drain
  private let downstream: Subscription
  private let next: Observable<Output>.Next
  final let takesOnce: Bool
  // Guards the slots and the counters below.
  private let drain = Drain()
  private var slots: [Slot] = []
  // The number of empty slots, so that the cost of an element does not depend on the number of sources.
  private var empty = 0
  private var open = 0

  init(_ sink: Sink<Output>, takesOnce: Bool) {
    (downstream, next) = (sink.subscription, sink.next)
    self.takesOnce = takesOnce
  }

  /// Adds a slot; all slots are added before the first is attached.
  final func add(_ slot: Slot) {
    slots.append(slot)
    empty += 1
    open += 1
  }

  /// Completes the result if there is no source.
  final func completeIfEmpty() {
    if slots.isEmpty { downstream.complete() }
  }

  /// Returns the next result; called when every slot has an element.
  func take() -> Output? { nil }

  final func attach<Element: Sendable>(_ source: Observable<Element>, _ slot: SlotOf<Element>) {
    let scope = HandlerScope(downstream) { [self] error in
      drain.run { [self] in close(slot, error) }
    }
    source.run(scope) { [self] element in
      drain.run { [self] in receive(element, slot) }
    }
  }

  private func receive<Element: Sendable>(_ element: Element, _ slot: SlotOf<Element>) {
    guard !downstream.isStopped else { return }
    if slot.isEmpty { empty -= 1 }
    slot.put(element)
    guard empty == 0, let output = take() else { return }
    downstream.deliver(output, to: next)
    // Elements that are not consumed stay in their slots.
    guard takesOnce else { return }
    empty = slots.count(where: \.isEmpty)
    if slots.contains(where: \.isExhausted) { downstream.complete() }
  }

  /// Handles the terminal event of a source. The result completes when a source with an empty slot completes, or when
  /// all sources have completed (contract, laws 11 and 12).
  private func close(_ slot: Slot, _ error: (any Error)?) {
    if let error { return downstream.fail(error) }
    slot.isClosed = true
    open -= 1
    if slot.isExhausted || open == 0 { downstream.complete() }
  }
}

extension Observable {
  /// Creates a stream that calls `start` for each subscription; `start` creates a join and attaches its sources.
  ///
  /// Swift 6.3 crashes on some functions that take a closure over a pack's tuple; `Sink` replaces the closure.
  init(joining start: @escaping @Sendable (Sink<Element>) -> Void) {
    self.init(push: { start(Sink($0, $1)) })
  }
}

/// The elements of one source of a join, and whether it has completed.
class Slot: @unchecked Sendable {  // safe: used only inside the drain of its join
  final var isEmpty = true
  final var isClosed = false

  final var isExhausted: Bool { isClosed && isEmpty }
}

/// A slot for elements of one type: `zip` uses each element once; `combineLatest` reuses the latest element.
final class SlotOf<Element: Sendable>: Slot, @unchecked Sendable {  // safe: as above
  private let takesOnce: Bool
  private var queue = Queue<Element>()
  private var latest: Element?

  init(takesOnce: Bool) { self.takesOnce = takesOnce }

  func put(_ element: Element) {
    if takesOnce { queue.append(element) } else { latest = element }
    isEmpty = false
  }

  func take() throws -> Element {
    guard let element = takesOnce ? queue.popFirst() : latest else { throw StreamError.noElements }
    isEmpty = takesOnce && queue.isEmpty
    return element
  }
}

/// A join of sources of several types, whose results are tuples.
final class TupleJoin<each Element: Sendable>: Join<(repeat each Element)>, @unchecked Sendable {  // safe: a constant
  private let slots: (repeat SlotOf<each Element>)

  override init(_ sink: Sink<(repeat each Element)>, takesOnce: Bool) {
    slots = (repeat SlotOf<each Element>(takesOnce: takesOnce))
    super.init(sink, takesOnce: takesOnce)
    for slot in repeat each slots { add(slot) }
  }

  func start(_ sources: repeat Observable<each Element>) {
    repeat attach(each sources, each slots)
    completeIfEmpty()
  }

  override func take() -> (repeat each Element)? { try? (repeat (each slots).take()) }
}

/// A join of sources of one type, whose results are arrays.
final class ArrayJoin<Element: Sendable>: Join<[Element]>, @unchecked Sendable {  // safe: adds a constant
  private var slots: [SlotOf<Element>] = []

  func start(_ sources: [Observable<Element>]) {
    slots = sources.map { _ in SlotOf(takesOnce: takesOnce) }
    for slot in slots { add(slot) }
    for (source, slot) in zip(sources, slots) { attach(source, slot) }
    completeIfEmpty()
  }

  override func take() -> [Element]? { try? slots.map { try $0.take() } }
}

extension Observable where Element == Never {
  /// Joins all sources: `zip` takes each element once, `combineLatest` keeps the latest ones.
  static func joined<each Source: ObservableConvertibleType>(
    _ sources: repeat each Source, takesOnce: Bool
  ) -> Observable<(repeat (each Source).Element)> {
    let observables = (repeat (each sources).asObservable())
    return Observable<(repeat (each Source).Element)>(joining: { sink in
      TupleJoin<repeat (each Source).Element>(sink, takesOnce: takesOnce).start(repeat each observables)
    })
  }
}
