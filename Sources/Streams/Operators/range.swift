extension Observable where Element: FixedWidthInteger & Sendable {
  /// Emits `count` integers from `start` upwards in a plain loop on the subscribing thread, then completes (law 23).
  ///
  /// A `count` of zero or less emits nothing; a range that leaves the integer type stops at its greatest value.
  ///
  ///     range(1, count 3): (123|)
  @inlinable
  public static func range(start: Element, count: Element) -> Observable<Element> {
    let run = IntegerRun(start: start, count: count)
    return Observable(push: { subscription, next in
      do {
        if var element = run.following {
          while !subscription.isStopped {
            try next(element)
            if element == run.last { return subscription.complete() }
            element &+= 1
          }
        } else {
          subscription.complete()
        }
      } catch {
        subscription.fail(error)
      }
    })
  }

  /// Emits `count` integers from `start` upwards, one for each item that it schedules on `scheduler` (law 23).
  public static func range(
    start: Element, count: Element, scheduler: any ImmediateSchedulerType
  ) -> Observable<Element> {
    Observable.from(IntegerRun(start: start, count: count), scheduler: scheduler)
  }
}

/// The integers from `next` to `last`; unlike `ClosedRange` it needs no `Stride` conformance of the element.
@usableFromInline
struct IntegerRun<Element: FixedWidthInteger & Sendable>: Sequence, IteratorProtocol, Sendable {
  @usableFromInline var following: Element?
  @usableFromInline let last: Element

  @inlinable
  init(start: Element, count: Element) {
    let (sum, overflow) = start.addingReportingOverflow(count &- 1)
    last = overflow ? .max : sum
    following = count > 0 ? start : nil
  }

  @inlinable
  mutating func next() -> Element? {
    guard let element = following else { return nil }
    following = element == last ? nil : element &+ 1
    return element
  }
}
