import Synchronization

/// One scope of errors and termination: from an operator that reads or makes terminal events down to the next one.
///
/// It is active until it finishes (with an error or not) or is disposed, whichever comes first; then it lets go of what
/// it owns. Operators that pass terminal events through share their downstream's.
@usableFromInline
package class Subscription: Cancelable, @unchecked Sendable {  // safe: the flag is atomic, the rest is behind the mutex
  private struct Owned {
    var first: (any Disposable)?
    var rest: [any Disposable] = []
    var tail: (@Sendable () -> Void)?
    var inTail = false
  }

  // Whoever raises it ends the scope; every emitter reads it.
  @usableFromInline final let stopped = Atomic<Bool>(false)
  // Whether anything has been owned, and whether that has been let go of; `owned` only says what it is.
  private final let holding = Atomic<UInt8>(Holding.nothing)
  // Guards what is disposed at the end, and the next tail call; both are taken out and run after.
  private final let owned = Locked(Owned())

  private enum Holding {
    static let nothing: UInt8 = 0
    static let something: UInt8 = 1
    static let released: UInt8 = 2
  }

  @usableFromInline
  init() { liveSubscriptions.add(1, ordering: .relaxed) }

  deinit { liveSubscriptions.subtract(1, ordering: .relaxed) }

  /// Whether it has finished or been disposed. Sources test it once per element.
  @inlinable package final var isStopped: Bool { stopped.load(ordering: .relaxed) }

  @usableFromInline package final var isDisposed: Bool { isStopped }

  /// Passes the end on; called at most once. `nil` is completion.
  @usableFromInline
  func terminated(_ error: (any Error)?) {}

  /// Lets go of closures; called exactly once, after `terminated` if that is called.
  @usableFromInline
  func released() {}

  /// Whether the subscriber takes another element now; `false` where a loop over `values()` has not asked for one, or a
  /// `concatMap` is busy. `resume` is then called, once, when that changes, on any thread; never when the subscription ends.
  ///
  /// Sources that can wait ask before each element, or before each batch. All others emit as they do.
  package func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool { true }

  /// Ends with `error`, or well with `nil`: first downstream hears of it, then upstream is disposed (law 5).
  @usableFromInline
  package final func finish(_ error: (any Error)?) {
    guard stop() else { return }
    terminated(error)
    release()
  }

  @inlinable
  package final func complete() { finish(nil) }

  @inlinable
  package final func fail(_ error: any Error) { finish(error) }

  /// Ends without telling anybody. One that is just passing its end on lets go of what it owns already, so that its
  /// downstream releases upstream before what came later, such as `do(onDispose:)` (law 5).
  @usableFromInline
  package final func dispose() {
    if !isStopped, stop() { release() } else { releaseOwned() }
  }

  /// Ends the active state without telling anybody; the winner must call `release()`.
  final func stop() -> Bool { !stopped.exchange(true, ordering: .acquiringAndReleasing) }

  final func release() {
    releaseOwned()
    released()
  }

  private final func releaseOwned() {
    guard holding.load(ordering: .acquiring) != Holding.released,
      holding.exchange(Holding.released, ordering: .acquiringAndReleasing) == Holding.something
    else { return }
    let taken = owned.withLock { owned in
      let taken = owned
      owned = Owned()
      return taken
    }
    taken.first?.dispose()
    for disposable in taken.rest { disposable.dispose() }
  }

  /// Disposes `disposable` together with this subscription: at once if that is over (law 9).
  @usableFromInline
  package final func own(_ disposable: any Disposable) {
    let late = owned.withLock { owned in
      let before = holding.compareExchange(
        expected: Holding.nothing, desired: Holding.something, ordering: .acquiringAndReleasing
      ).original
      if before == Holding.released { return true }
      if owned.first == nil { owned.first = disposable } else { owned.rest.append(disposable) }
      return false
    }
    if late { disposable.dispose() }
  }

  /// Owns the item that `schedule` returns until that calls its argument: what has run leaves, so that streams which
  /// replace themselves in this scope hold no more than one (law 27).
  package final func ownUntilRun(_ schedule: (_ leave: @escaping @Sendable () -> Void) -> any Disposable) {
    let slot = SingleAssignmentDisposable()
    own(slot)
    slot.setDisposable(schedule { [self] in disown(slot) })
  }

  /// Forgets `disposable` without disposing it.
  final func disown(_ disposable: any Disposable) {
    owned.withLock { owned in
      if let index = owned.rest.lastIndex(where: { $0 === disposable }) {
        owned.rest.remove(at: index)
      } else if owned.first === disposable {
        owned.first = nil
      }
    }
  }

  /// Runs `step` as the last thing that happens in this subscription for now: when called from inside such a step,
  /// after it has returned, so that replacements that replace themselves need no stack (law 27).
  final func tailCall(_ step: @escaping @Sendable () -> Void) {
    let mine = owned.withLock { owned in
      if owned.inTail {
        owned.tail = step
        return false
      }
      owned.inTail = true
      return true
    }
    guard mine else { return }
    var next: (@Sendable () -> Void)? = step
    while let run = next {
      run()
      next = owned.withLock { owned in
        let step = owned.tail.take()
        if step == nil { owned.inTail = false }
        return step
      }
    }
  }

  /// Hands `element` to `next`; what that throws ends this subscription, and nothing above it hears of the error
  /// (law 7).
  @inlinable
  package final func deliver<Element>(_ element: Element, to next: @Sendable (Element) throws -> Void) {
    do { try next(element) } catch { fail(error) }
  }

  /// Hands `element` to `next` unless this subscription is over.
  @inlinable
  package final func deliverIfActive<Element>(_ element: Element, to next: @Sendable (Element) throws -> Void) {
    if !isStopped { deliver(element, to: next) }
  }
}

/// A scope that belongs to the one below it and passes its end down.
@usableFromInline
package class Scope: Subscription, @unchecked Sendable {  // safe: adds one constant
  @usableFromInline final let downstream: Subscription

  @usableFromInline
  package init(_ downstream: Subscription) {
    self.downstream = downstream
    super.init()
    downstream.own(self)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) { downstream.finish(error) }

  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    downstream.takesMore(orCall: resume)
  }
}
