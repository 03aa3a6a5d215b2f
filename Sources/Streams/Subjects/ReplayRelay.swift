/// A `ReplaySubject` that never ends.
public final class ReplayRelay<Element: Sendable>: ObservableType {
  @usableFromInline let subject: ReplaySubject<Element>

  private init(_ subject: ReplaySubject<Element>) { self.subject = subject }

  /// A relay that remembers the last `bufferSize` elements; 0 or less remembers none.
  public static func create(bufferSize: Int) -> ReplayRelay<Element> { ReplayRelay(.create(bufferSize: bufferSize)) }

  /// A relay that remembers all elements, for as long as it lives.
  public static func createUnbounded() -> ReplayRelay<Element> { ReplayRelay(.createUnbounded()) }

  /// Remembers `element` and sends it to all observers (laws 2 and 3).
  @inlinable
  public func accept(_ element: Element) { subject.onNext(element) }

  /// The relay as a stream that cannot be fed: the remembered elements first, then what is accepted later (law 25).
  @inlinable
  public func asObservable() -> Observable<Element> { subject.asObservable() }
}
