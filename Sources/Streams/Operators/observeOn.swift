import Synchronization

extension ObservableType {
  /// Delivers the events on `scheduler`, in order and one at a time, including errors, even if the scheduler is
  /// concurrent.
  ///
  /// Queued events are dropped when the subscription is disposed (contract, law 20). Events are delivered in batches of at
  /// most 128, with one scheduled item per batch. Between two batches, other work of the scheduler runs.
  @inlinable
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let hop = ObserveOn(subscription, scheduler, next)
      source.run(hop) { hop.push($0) }
    })
  }
}

/// The scope above an `observeOn`: a lock-free queue between the thread that appends and the thread that removes.
///
/// The events of the source are serial (contract, law 2). The runs are also serial: the next run is scheduled after the
/// previous run has emptied the queue.
@usableFromInline
package final class ObserveOn<Element: Sendable>: Subscription, @unchecked Sendable {
  // Safe: the source uses `inlet` and `end`, the run uses `outlet`; `waiting` orders the writes of one thread before
  // the reads of the other.
  @usableFromInline let downstream: Subscription
  @usableFromInline let scheduler: any ImmediateSchedulerType
  @usableFromInline let next: Observable<Element>.Next
  @usableFromInline let hop = SerialDisposable()
  @usableFromInline var end: (any Error)?
  @usableFromInline let apart = CacheLine()
  @exclusivity(unchecked) @usableFromInline var inlet: Slots<Element>
  @usableFromInline let apartAsWell = CacheLine()
  // Twice the number of queued elements, plus one after the terminal event. The thread that increments it from 0
  // schedules a run, which decrements it again.
  @usableFromInline let waiting = Atomic<Int>(0)
  @usableFromInline let apartOnceMore = CacheLine()
  @exclusivity(unchecked) @usableFromInline var outlet: Slots<Element>

  @inlinable
  package init(
    _ downstream: Subscription, _ scheduler: any ImmediateSchedulerType, _ next: @escaping Observable<Element>.Next
  ) {
    self.downstream = downstream
    self.scheduler = scheduler
    self.next = next
    inlet = Slots(Block(capacity: 4))
    outlet = inlet
    super.init()
    downstream.own(self)
    downstream.own(hop)
  }

  deinit { outlet.drop(upTo: inlet) }

  @inlinable
  package func push(_ element: Element) {
    if inlet.count == 0 { grow() }
    inlet.first.initialize(to: element)
    inlet.advance()
    publish(2)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    end = error
    publish(1)
  }

  @inlinable
  func publish(_ amount: Int) {
    if waiting.wrappingAdd(amount, ordering: .acquiringAndReleasing).oldValue == 0 { schedule() }
  }

  @inlinable @inline(never)
  func grow() {
    let block = Block<Element>(capacity: Swift.min(256, 4 * inlet.block.capacity))
    inlet.block.next = block
    inlet = Slots(block)
  }

  @inlinable
  func schedule() {
    hop.disposable = scheduler.schedule { [self] in deliverAll() }
  }

  @inlinable
  func deliverAll() {
    var seen = waiting.load(ordering: .acquiring)
    var left = ObserveOnBatch.size
    while true {
      let count = Swift.min(seen >> 1, left)
      for _ in 0..<count {
        if downstream.isStopped { return }
        if outlet.count == 0, let block = outlet.block.next { outlet = Slots(block) }
        let element = outlet.first.move()
        outlet.advance()
        downstream.deliver(element, to: next)
      }
      // All elements precede the terminal event.
      if seen == 2 * count + 1 { return finish() }
      seen = waiting.wrappingSubtract(2 * count, ordering: .acquiringAndReleasing).newValue
      if seen == 0 { return }
      left -= count
      if left == 0 {
        if continuesLater() { return }
        left = ObserveOnBatch.size
      }
    }
  }

  /// Schedules another run, so that other work of the scheduler runs first. Returns `false` if the scheduler would run
  /// it immediately.
  @usableFromInline
  func continuesLater() -> Bool {
    guard let timed = scheduler as? any SchedulerType else { return false }
    // Not in `hop`: with a concurrent scheduler, the next run may end, and the source schedule another, before the
    // disposable arrives here. After disposal, the run only finds that the subscription has stopped.
    _ = timed.scheduleRelative(.zero) { [self] in deliverAll() }
    return true
  }

  @usableFromInline
  func finish() { downstream.finish(end) }
}

/// The maximum number of elements that one run of an `observeOn` delivers. A main queue is then free for other work after
/// at most that many elements, and a new run costs little in comparison.
@usableFromInline
enum ObserveOnBatch {
  @usableFromInline static let size = 128
}

/// A chunk of memory for elements, in a linked list.
@usableFromInline
final class Block<Element> {
  @usableFromInline let slots: UnsafeMutablePointer<Element>
  @usableFromInline let capacity: Int
  @usableFromInline var next: Block<Element>?

  @inlinable
  init(capacity: Int) {
    slots = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit { slots.deallocate() }
}

/// A position in a linked list of blocks.
@usableFromInline
struct Slots<Element> {
  @usableFromInline var block: Block<Element>
  @usableFromInline var first: UnsafeMutablePointer<Element>
  // The number of slots left in the block.
  @usableFromInline var count: Int

  @inlinable
  init(_ block: Block<Element>) {
    self.block = block
    first = block.slots
    count = block.capacity
  }

  @inlinable
  mutating func advance() {
    first += 1
    count &-= 1
  }

  /// Releases the elements from here to `end`.
  @inlinable
  // Unlinks each block, because freeing a long list recursively would overflow the stack.
  consuming func drop(upTo end: Slots<Element>) {
    while block !== end.block, let next = block.next.take() {
      first.deinitialize(count: count)
      self = Slots(next)
    }
    first.deinitialize(count: end.first - first)
  }
}

/// Padding between fields that two threads write, to avoid false sharing of a cache line.
@usableFromInline
struct CacheLine {
  @usableFromInline let room = (0, 0, 0, 0, 0, 0, 0, 0)

  @inlinable init() {}
}
