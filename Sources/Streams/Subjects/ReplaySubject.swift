/// A subject that stores its last elements, or all elements. Each observer receives the stored elements first, then the
/// elements sent later.
///
/// The stored elements are delivered inside `subscribe`, outside any lock and before all live elements, with no loss or
/// duplicate (contract, law 25). The subject accepts events from several threads concurrently, and reentrant events
/// (contract, laws 2 and 3). After it has terminated, new observers receive the stored elements and the terminal event
/// (contract, law 26).
///
/// A call that delivers an event also delivers the events that other threads send meanwhile. `PublishSubject` describes
/// the consequences for the main thread.
public final class ReplaySubject<Element: Sendable>: SubjectType {
  @usableFromInline let core: SubjectCore<Element>

  private init(capacity: Int) { core = SubjectCore(capacity: capacity, replaysAfterEnd: true) }

  /// Creates a subject that stores the last `bufferSize` elements; 0 or less stores none.
  public static func create(bufferSize: Int) -> ReplaySubject<Element> {
    ReplaySubject(capacity: Swift.max(0, bufferSize))
  }

  /// Creates a subject that stores all elements for its lifetime, without a limit.
  public static func createUnbounded() -> ReplaySubject<Element> { ReplaySubject(capacity: .max) }

  /// Whether the subject has observers.
  public var hasObservers: Bool { core.hasObservers }

  /// Receives one event.
  @inlinable
  public func on(_ event: Event<Element>) { core.on(event) }

  /// Sends `element` to all observers.
  @inlinable
  public func onNext(_ element: Element) { core.onNext(element) }

  /// Returns the subject as a read-only stream.
  @inlinable
  public func asObservable() -> Observable<Element> { core.asObservable() }
}
