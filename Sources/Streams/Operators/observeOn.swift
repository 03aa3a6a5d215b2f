import Dispatch
import PortableFoundation
import Synchronization

extension ObservableType {
  /// Delivers the events on `scheduler`, in order and one at a time, including errors, even if the scheduler is
  /// concurrent.
  ///
  /// Queued events are dropped when the subscription is disposed (contract, law 20). Events are delivered in batches,
  /// with one scheduled item per batch. A batch ends at most 64 elements after it has taken 8 ms, counted from its 64th
  /// element, so that other work of the scheduler runs before the next.
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
  // Row observeOn.
  @exclusivity(unchecked) @usableFromInline var inlet: Slots<Element>
  @usableFromInline let apartAsWell = CacheLine()
  // Twice the number of queued elements, plus one after the terminal event. The thread that increments it from 0
  // schedules a run, which decrements it again.
  @usableFromInline let waiting = Atomic<Int>(0)
  @usableFromInline let apartOnceMore = CacheLine()
  // Row observeOn.
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
    var run = ObserveOnRun()
    var seen = waiting.load(ordering: .acquiring)
    while true {
      var left = seen >> 1
      while left > 0 {
        let batch = Swift.min(left, ObserveOnRun.batch)
        for _ in 0..<batch {
          if downstream.isStopped { return }
          if outlet.count == 0, let block = outlet.block.next { outlet = Slots(block) }
          let element = outlet.first.move()
          outlet.advance()
          downstream.deliver(element, to: next)
        }
        left &-= batch
        if run.takesLong(batch) { break }
      }
      // All elements precede the terminal event.
      if left == 0, seen & 1 == 1 { return finish() }
      // The source may be about to send more elements; yielding costs less than a new run.
      if !run.isLong, run.taken >= ObserveOnRun.batch { pause() }
      seen = waiting.wrappingSubtract((seen >> 1 &- left) << 1, ordering: .acquiringAndReleasing).newValue
      if seen == 0 { return }
      if run.isLong, continuesLater() { return }
    }
  }

  @usableFromInline
  func pause() { sched_yield() }

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

/// The progress of one run of an `observeOn`. A run that takes long ends, so that the main queue is free for other work.
@usableFromInline
struct ObserveOnRun {
  /// The number of elements after which a run checks the time, which then costs little in comparison.
  @usableFromInline static let batch = 64
  /// The maximum duration of a run in nanoseconds, without its last batch: half a frame at 60 Hz.
  private static let longest: UInt64 = 8_000_000

  @usableFromInline var taken = 0
  @usableFromInline var isLong = false
  private var started: UInt64 = 0

  @usableFromInline
  init() {}

  /// Counts delivered elements. Returns whether the run takes long, which is checked after full batches.
  @inlinable
  mutating func takesLong(_ count: Int) -> Bool {
    taken &+= count
    if taken >= Self.batch { check() }
    return isLong
  }

  @usableFromInline
  mutating func check() {
    let now = DispatchTime.now().uptimeNanoseconds
    if started == 0 { started = now }
    isLong = now - started > Self.longest
  }
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
