/// A stream fed by hand that remembers its last elements, or all: each observer gets those first, then what is sent
/// later.
///
/// The remembered elements are delivered inside `subscribe`, outside any lock, and strictly before live ones, none lost
/// and none twice (law 25). May be fed from several threads at once and re-entrantly (laws 2 and 3). After its end,
/// observers get the remembered elements and that end (law 26).
///
/// A call that delivers also delivers what other threads send meanwhile; `PublishSubject` says what that means for the main
/// thread.
public final class ReplaySubject<Element: Sendable>: SubjectType {
  @usableFromInline let core: SubjectCore<Element>

  private init(capacity: Int) { core = SubjectCore(capacity: capacity, replaysAfterEnd: true) }

  /// A subject that remembers the last `bufferSize` elements; 0 or less remembers none.
  public static func create(bufferSize: Int) -> ReplaySubject<Element> {
    ReplaySubject(capacity: Swift.max(0, bufferSize))
  }

  /// A subject that remembers all elements, for as long as it lives.
  public static func createUnbounded() -> ReplaySubject<Element> { ReplaySubject(capacity: .max) }

  /// Whether anybody is subscribed.
  public var hasObservers: Bool { core.hasObservers }

  /// Takes one event.
  @inlinable
  public func on(_ event: Event<Element>) { core.on(event) }

  /// Sends `element` to all observers.
  @inlinable
  public func onNext(_ element: Element) { core.onNext(element) }

  /// The subject as a stream that cannot be fed.
  @inlinable
  public func asObservable() -> Observable<Element> { core.asObservable() }
}
