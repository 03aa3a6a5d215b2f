import Synchronization

/// A scope of errors and termination: from an operator that handles or emits terminal events down to the next such
/// operator.
///
/// It is active until it terminates or is disposed. Then it releases everything that it owns. Operators that forward
/// terminal events share the scope of their downstream.
@usableFromInline
package class Subscription: Cancelable, @unchecked Sendable {  // safe: an atomic flag; the mutex guards the rest
  private struct Owned {
    // Most scopes own at most two objects, which need no array.
    var first: (any Disposable)?
    var second: (any Disposable)?
    var rest: [any Disposable]?
    var tail: (@Sendable () -> Void)?
    var inTail = false

    @inline(__always)
    mutating func add(_ disposable: any Disposable) {
      if first == nil {
        first = disposable
      } else if second == nil {
        second = disposable
      } else if rest?.append(disposable) == nil {
        rest = [disposable]
      }
    }
  }

  // Setting it ends the scope; every emitter reads it.
  @usableFromInline final let stopped = Atomic<Bool>(false)
  // Whether the scope has owned anything, and whether it has released its objects; `owned` only lists them.
  private final let holding = Atomic<UInt8>(Holding.nothing)
  // Guards the owned disposables and the next tail call; both are taken out and run outside the lock.
  private final let owned = Locked(Owned())

  private enum Holding {
    static let nothing: UInt8 = 0
    static let something: UInt8 = 1
    static let released: UInt8 = 2
  }

  @usableFromInline
  init() { liveSubscriptions.add(1) }

  deinit { liveSubscriptions.add(-1) }

  /// Whether the scope has terminated or been disposed. Sources test it once per element.
  @inlinable package final var isStopped: Bool { stopped.load(ordering: .relaxed) }

  @usableFromInline package final var isDisposed: Bool { isStopped }

  /// Forwards the terminal event (`nil` for completion); called at most once.
  @usableFromInline
  func terminated(_ error: (any Error)?) {}

  /// Releases closures; called exactly once, after any call of `terminated`.
  @usableFromInline
  func released() {}

  /// Returns whether the subscriber accepts another element now.
  ///
  /// Returns `false` if a loop over `values` has not requested one, or a `concatMap` is busy. When that changes,
  /// `resume` is called once, on any thread; it is not called after the subscription has ended.
  ///
  /// Sources that support backpressure call this before each element or batch. Others ignore it.
  package func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool { true }

  /// The loop over `values` below, which a source asks that a busy `concatMap` must not delay; `nil` for none.
  var loop: Subscription? { nil }

  /// Terminates with `error`, or completes if it is `nil`: first the downstream receives it, then the upstream is
  /// disposed (contract, law 5).
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

  /// Stops without a terminal event.
  ///
  /// A scope that is forwarding its terminal event releases what it owns immediately. Its downstream thus releases the
  /// upstream before later additions, such as `do(onDispose:)` (contract, law 5).
  @usableFromInline
  package final func dispose() {
    if !isStopped, stop() { release() } else { releaseOwned() }
  }

  /// Ends the active state without a terminal event; the caller that succeeds must call `release()`.
  final func stop() -> Bool { !stopped.exchange(true, ordering: .acquiringAndReleasing) }

  final func release() {
    releaseOwned()
    released()
  }

  private final func releaseOwned() {
    guard holding.load(ordering: .acquiring) != Holding.released,
      holding.exchange(Holding.released, ordering: .acquiringAndReleasing) == Holding.something
    else { return }
    let (first, second, rest) = owned.take { owned in
      owned.inTail = false
      return ((owned.first.take(), owned.second.take(), owned.rest.take()), owned.tail.take())
    }
    first?.dispose()
    second?.dispose()
    if let rest { for disposable in rest { disposable.dispose() } }
  }

  /// Disposes `disposable` together with this subscription, or immediately if the subscription has ended (contract, law
  /// 9).
  @usableFromInline
  package final func own(_ disposable: any Disposable) {
    if holding.load(ordering: .acquiring) == Holding.released { return disposable.dispose() }
    let late = owned.withLock { owned in
      let before = holding.compareExchange(
        expected: Holding.nothing, desired: Holding.something, ordering: .acquiringAndReleasing
      ).original
      if before == Holding.released { return true }
      owned.add(disposable)
      return false
    }
    if late { disposable.dispose() }
  }

  /// Owns the item that `schedule` returns until `schedule` calls its argument.
  ///
  /// Items that have run are released, so that streams that replace themselves in this scope hold at most one
  /// (contract, law 27).
  package final func ownUntilRun(_ schedule: (_ leave: @escaping @Sendable () -> Void) -> any Disposable) {
    let slot = SingleAssignmentDisposable()
    own(slot)
    slot.setDisposable(schedule { [self] in disown(slot) })
  }

  /// Removes `disposable` without disposing it.
  final func disown(_ disposable: any Disposable) {
    owned.withLock { owned in
      if owned.first === disposable {
        owned.first = nil
      } else if owned.second === disposable {
        owned.second = nil
      } else if let index = owned.rest?.lastIndex(where: { $0 === disposable }) {
        owned.rest?.remove(at: index)
      }
    }
  }

  /// Runs `step` after the current work of this subscription.
  ///
  /// A call from inside such a step runs after the step has returned, so that nested replacements don't grow the stack
  /// (contract, law 27).
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

  /// Passes `element` to `next`; an error that it throws fails this subscription and does not travel upstream
  /// (contract, law 7).
  @inlinable
  package final func deliver<Element>(_ element: Element, to next: @Sendable (Element) throws -> Void) {
    do { try next(element) } catch { fail(error) }
  }

  /// Passes `element` to `next` unless this subscription has ended.
  @inlinable
  package final func deliverIfActive<Element>(_ element: Element, to next: @Sendable (Element) throws -> Void) {
    if !isStopped { deliver(element, to: next) }
  }
}

/// A scope that its downstream owns and that forwards its terminal event.
@usableFromInline
package class Scope: Subscription, @unchecked Sendable {  // safe: adds one constant
  @usableFromInline package final let downstream: Subscription

  @usableFromInline
  package init(_ downstream: Subscription) {
    self.downstream = downstream
    super.init()
    downstream.own(self)
    // Another thread may be ending the downstream, and has not released what it owns yet. The source must not start.
    if downstream.isStopped { dispose() }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) { downstream.finish(error) }

  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    downstream.takesMore(orCall: resume)
  }

  override var loop: Subscription? { downstream.loop }
}
