import Synchronization

extension ObservableType {
  /// Subscribes to the stream that `selector` returns for each element, after disposing the previous one (contract, law
  /// 14).
  ///
  ///     source:        -a-b-----|
  ///     flatMapLatest: -a-b-b-b-|    each becomes x-x-x|
  @inlinable
  public func flatMapLatest<Source: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Source
  ) -> Observable<Source.Element> {
    let source = asObservable()
    return Observable<Source.Element>(push: { subscription, next in
      let latest = FlatMapLatest(subscription, next: next)
      source.run(latest) { latest.switchTo(try selector($0).asObservable()) }
    })
  }
}

@usableFromInline
final class FlatMapLatest<Element: Sendable>: Scope, @unchecked Sendable {
  // Safe: atomics and a drain; only the outer stream, whose events are serial, uses `lastID`.
  @usableFromInline let next: Observable<Element>.Next
  // Serializes the events of the outer and the inner streams.
  @usableFromInline let drain = Drain()
  @usableFromInline let current = SerialDisposable()
  // The ID of the inner stream that may emit, or 0 if there is none.
  @usableFromInline let active = Atomic<Int>(0)
  // Set inside the drain, and read there when an inner stream terminates.
  @usableFromInline let outerEnded = Atomic<Bool>(false)
  @usableFromInline var lastID = 0

  @usableFromInline
  init(_ downstream: Subscription, next: @escaping Observable<Element>.Next) {
    self.next = next
    super.init(downstream)
    downstream.own(current)
  }

  @inlinable
  func switchTo(_ inner: Observable<Element>) {
    if let element = inner.scalar {
      // Without an inner stream, only this thread can emit. Otherwise the drain decides, because the last inner stream
      // may be entering it: a store of `active` before a load of `work` would not be ordered on all processors.
      if active.load(ordering: .acquiring) != 0 {
        giveUpCurrent()
      } else if drain.isIdle {
        return downstream.deliverIfActive(element, to: next)
      }
      return drain.run { [self] in downstream.deliverIfActive(element, to: next) }
    }
    lastID += 1
    let id = lastID
    active.store(id, ordering: .releasing)
    let scope = HandlerScope(above: downstream) { [self] error in innerEnded(error, id) }
    current.disposable = scope
    inner.run(scope) { [self] in emit($0, id) }
  }

  @inlinable
  func emit(_ element: Element, _ id: Int) {
    drain.run { [self] in deliver(element, id) }
  }

  @inlinable
  func deliver(_ element: Element, _ id: Int) {
    guard active.load(ordering: .acquiring) == id, !downstream.isStopped else { return }
    downstream.deliver(element, to: next)
  }

  @usableFromInline
  func giveUpCurrent() {
    active.store(0, ordering: .releasing)
    current.disposable = Disposables.create()
  }

  @usableFromInline
  func innerEnded(_ error: (any Error)?, _ id: Int) {
    drain.run { [self] in
      if let error {
        if active.load(ordering: .acquiring) == id { downstream.fail(error) }
        return
      }
      guard active.compareExchange(expected: id, desired: 0, ordering: .acquiringAndReleasing).exchanged else { return }
      if outerEnded.load(ordering: .acquiring) { downstream.complete() }
    }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    drain.run { [self] in
      if let error { return downstream.fail(error) }
      outerEnded.store(true, ordering: .releasing)
      if active.load(ordering: .acquiring) == 0 { downstream.complete() }
    }
  }
}
