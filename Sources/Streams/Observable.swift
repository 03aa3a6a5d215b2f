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

  @usableFromInline
  enum Source: Sendable {
    /// One element and completion, known in advance, so that operators such as `flatMap` can skip an inner
    /// subscription.
    case scalar(Element)
    /// A function that emits, in order and serially, until the subscription has stopped.
    case push(@Sendable (Subscription, @escaping Next) -> Void)
  }

  @usableFromInline let source: Source

  @inlinable
  init(source: Source) { self.source = source }

  @inlinable
  package init(push: @escaping @Sendable (Subscription, @escaping Next) -> Void) { source = .push(push) }

  /// Returns `self`.
  @inlinable
  public func asObservable() -> Observable<Element> { self }

  /// Emits into `next` within the scope of `subscription`; does nothing if the subscription has stopped (contract, law
  /// 15).
  @inlinable
  package func run(_ subscription: Subscription, _ next: @escaping Next) {
    guard !subscription.isStopped else { return }
    switch source {
    case .scalar(let element):
      do {
        try next(element)
        subscription.complete()
      } catch {
        subscription.fail(error)
      }
    case .push(let push):
      push(subscription, next)
    }
  }
}
