/// A subject that stores its last element. Each observer receives that element first, then the elements sent later.
///
/// The stored element is delivered inside `subscribe`, outside any lock and before all live elements, with no loss or
/// duplicate (contract, law 25). The subject accepts events from several threads concurrently, and reentrant events
/// (contract, laws 2 and 3). After it has terminated, new observers receive only the terminal event (contract, law 26).
///
/// A call that delivers an event also delivers the events that other threads send meanwhile. `PublishSubject` describes
/// the consequences for the main thread.
public final class BehaviorSubject<Element: Sendable>: SubjectType {
  @usableFromInline let core: SubjectCore<Element>
  private let initial: Element

  /// Creates a subject with the initial element `value`.
  public init(value: Element) {
    core = SubjectCore([value], capacity: 1)
    initial = value
  }

  /// Whether the subject has observers.
  public var hasObservers: Bool { core.hasObservers }

  /// The last accepted element, even if it has not been delivered yet (contract, law 32).
  ///
  /// - Throws: The error of the subject, if it has failed.
  public func value() throws -> Element {
    let (element, _, end) = core.latest
    if case .some(.some(let error)) = end { throw error }
    return element ?? initial
  }

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
