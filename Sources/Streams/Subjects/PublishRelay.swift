/// A `PublishSubject` that never ends: for events of a user interface.
///
/// A call that delivers also delivers what other threads accept meanwhile; `PublishSubject` says what that means for the
/// main thread.
public final class PublishRelay<Element: Sendable>: ObservableType {
  @usableFromInline let subject = PublishSubject<Element>()

  /// A relay without observers.
  public init() {}

  /// Sends `element` to all observers (laws 2 and 3).
  @inlinable
  public func accept(_ element: Element) { subject.onNext(element) }

  /// The relay as a stream that cannot be fed.
  @inlinable
  public func asObservable() -> Observable<Element> { subject.asObservable() }
}
