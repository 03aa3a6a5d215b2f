/// A type that can be converted to an `Observable`: observables, subjects, singles and completables.
public protocol ObservableConvertibleType<Element>: Sendable {
  /// The type of the elements.
  associatedtype Element: Sendable

  /// Returns the same stream as an `Observable`.
  func asObservable() -> Observable<Element>
}

/// A type that has all the operators: observables and subjects.
public protocol ObservableType<Element>: ObservableConvertibleType {}

/// A stream of elements over time that terminates at most once, by completing or failing (`next* (error |
/// completed)?`).
///
/// Nothing happens before the first subscription, and each subscription starts the work again unless the stream is
/// shared. Elements are `Sendable` and closures `@Sendable`, since events may arrive on any thread. The guarantees
/// about order, threads and disposal are in `docs/contract.md`.
public struct Observable<Element: Sendable>: ObservableType {
  /// A function that passes an element downstream; throwing unwinds to the source, which ends the subscription.
  @usableFromInline package typealias Next = @Sendable (Element) throws -> Void

  /// A function that emits, in order and serially, until the subscription has stopped.
  @usableFromInline typealias Push = @Sendable (Subscription, @escaping Next) -> Void

  // Two properties instead of an enumeration, because calling the payload of an enumeration retains it.
  /// The only element, known in advance, so that operators such as `flatMap` can skip an inner subscription. The stream
  /// then completes after it, and doesn't use `push`.
  @usableFromInline let scalar: Element?
  @usableFromInline let push: Push

  @inlinable
  package init(push: @escaping @Sendable (Subscription, @escaping Next) -> Void) {
    scalar = nil
    self.push = push
  }

  /// Creates a stream that emits `scalar` and completes.
  @inlinable
  init(scalar: Element) {
    self.scalar = scalar
    push = { _, _ in }
  }

  /// Returns `self`.
  @inlinable
  public func asObservable() -> Observable<Element> { self }

  /// Emits into `next` within the scope of `subscription`; does nothing if the subscription has stopped (contract, law
  /// 15).
  @inlinable @inline(__always)
  package func run(_ subscription: Subscription, _ next: @autoclosure () -> Next) {
    guard !subscription.isStopped else { return }
    if let scalar {
      do {
        // Called without being stored, so that the closure is not allocated.
        try next()(scalar)
        subscription.complete()
      } catch {
        subscription.fail(error)
      }
    } else {
      push(subscription, next())
    }
  }
}
