/// A `PublishSubject` that never terminates, for events of a user interface.
///
/// A call that delivers an element also delivers the elements that other threads accept meanwhile. `PublishSubject`
/// describes the consequences for the main thread.
public final class PublishRelay<Element: Sendable>: ObservableType {
  @usableFromInline let subject = PublishSubject<Element>()

  /// Creates a relay without observers.
  public init() {}

  /// Sends `element` to all observers (contract, laws 2 and 3).
  @inlinable
  public func accept(_ element: Element) { subject.onNext(element) }

  /// Returns the relay as a read-only stream.
  @inlinable
  public func asObservable() -> Observable<Element> { subject.asObservable() }
}
