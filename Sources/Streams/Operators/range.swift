extension Observable where Element: FixedWidthInteger & Sendable {
  /// Emits `count` integers from `start` upwards in a plain loop on the subscribing thread, then completes (law 23).
  ///
  /// A `count` of zero or less emits nothing; a range that leaves the integer type stops at its greatest value.
  ///
  ///     range(start: 1, count: 3)    (123|)
  @inlinable
  public static func range(start: Element, count: Element) -> Observable<Element> {
    guard let last = last(start, count) else { return .empty() }
    return Observable(push: { subscription, next in
      do {
        var element = start
        while !subscription.isStopped {
          try next(element)
          if element == last { return subscription.complete() }
          element &+= 1
        }
      } catch {
        subscription.fail(error)
      }
    })
  }

  /// Emits `count` integers from `start` upwards, one for each item that it schedules on `scheduler` (law 23).
  @inlinable
  public static func range(
    start: Element, count: Element, scheduler: any ImmediateSchedulerType
  ) -> Observable<Element> {
    guard let last = last(start, count) else { return .empty() }
    return Observable.from(IntegerRun(next: start, last: last), scheduler: scheduler)
  }

  @usableFromInline
  static func last(_ start: Element, _ count: Element) -> Element? {
    guard count > 0 else { return nil }
    let (sum, overflow) = start.addingReportingOverflow(count - 1)
    return overflow ? .max : sum
  }
}

/// The integers from `next` to `last`; unlike `ClosedRange` it needs no `Stride` conformance of the element.
@usableFromInline
struct IntegerRun<Element: FixedWidthInteger & Sendable>: Sequence, IteratorProtocol, Sendable {
  @usableFromInline var following: Element?
  @usableFromInline let last: Element

  @usableFromInline
  init(next: Element, last: Element) {
    following = next
    self.last = last
  }

  @usableFromInline
  mutating func next() -> Element? {
    guard let element = following else { return nil }
    following = element == last ? nil : element &+ 1
    return element
  }
}
