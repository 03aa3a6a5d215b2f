extension Observable where Element: FixedWidthInteger & Sendable {
  /// Emits `count` integers, starting at `start`, in a plain loop on the subscribing thread, then completes (contract,
  /// law 23).
  ///
  /// Emits nothing if `count` is zero or negative. Stops at the maximum of the integer type if the range exceeds it.
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
}

/// The integers from `following` to `last`; unlike `ClosedRange`, it does not require the element's `Stride` to
/// conform.
@usableFromInline
struct IntegerRun<Element: FixedWidthInteger & Sendable>: Sendable {
  @usableFromInline let following: Element?
  @usableFromInline let last: Element

  @inlinable
  init(start: Element, count: Element) {
    let (sum, overflow) = start.addingReportingOverflow(count &- 1)
    last = overflow ? .max : sum
    following = count > 0 ? start : nil
  }
}
