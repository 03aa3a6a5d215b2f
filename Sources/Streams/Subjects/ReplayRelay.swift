/// A `ReplaySubject` that never terminates.
public final class ReplayRelay<Element: Sendable>: ObservableType {
  @usableFromInline let subject: ReplaySubject<Element>

  private init(_ subject: ReplaySubject<Element>) { self.subject = subject }

  /// Creates a relay that stores the last `bufferSize` elements; 0 or less stores none.
  public static func create(bufferSize: Int) -> ReplayRelay<Element> { ReplayRelay(.create(bufferSize: bufferSize)) }

  /// Creates a relay that stores all elements for its lifetime, without a limit.
  public static func createUnbounded() -> ReplayRelay<Element> { ReplayRelay(.createUnbounded()) }

  /// Stores `element` and sends it to all observers (contract, laws 2 and 3).
  @inlinable
  public func accept(_ element: Element) { subject.onNext(element) }

  /// Returns the relay as a read-only stream that emits the stored elements first, then the elements accepted later
  /// (contract, law 25).
  @inlinable
  public func asObservable() -> Observable<Element> { subject.asObservable() }
}
