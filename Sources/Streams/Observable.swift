/// What can be turned into an `Observable`: observables, subjects, singles, completables.
public protocol ObservableConvertibleType<Element>: Sendable {
  /// What it emits.
  associatedtype Element: Sendable

  /// The same stream as an `Observable`.
  func asObservable() -> Observable<Element>
}

/// What has all the operators: observables and subjects.
public protocol ObservableType<Element>: ObservableConvertibleType {}

/// A stream of elements over time, ending at most once, with an error or without (`next* (error | completed)?`).
///
/// Nothing happens until someone subscribes; each subscription starts the work anew unless the stream is shared.
/// Elements are `Sendable` and closures `@Sendable`, since events may arrive on any thread. What is promised about
/// order, threads and disposal is the contract in `docs/contract.md`.
public struct Observable<Element: Sendable>: ObservableType {
  /// Takes elements downstream; throwing unwinds to the source, which ends the subscription.
  @usableFromInline package typealias Next = @Sendable (Element) throws -> Void

  @usableFromInline
  enum Source: Sendable {
    /// One element and completion, known beforehand: lets `flatMap` and its kind skip an inner subscription.
    case scalar(Element)
    /// A function that emits, in order and serially, until the subscription has stopped.
    case push(@Sendable (Subscription, @escaping Next) -> Void)
  }

  @usableFromInline let source: Source

  @inlinable
  init(source: Source) { self.source = source }

  @inlinable
  package init(push: @escaping @Sendable (Subscription, @escaping Next) -> Void) { source = .push(push) }

  /// Returns itself.
  @inlinable
  public func asObservable() -> Observable<Element> { self }

  /// Emits into `next` within the scope of `subscription`; starts nothing if that is over (law 15).
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
