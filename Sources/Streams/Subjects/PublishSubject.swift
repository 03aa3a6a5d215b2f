/// A subject that sends each event to the observers subscribed at that time.
///
/// It accepts events from several threads concurrently, and reentrant events. It delivers them one at a time, in order
/// of arrival, to the observers subscribed at delivery (contract, laws 2 and 3). After it has terminated, new observers
/// receive the terminal event (contract, law 26).
///
/// No sender waits for another. If a thread is delivering, it also delivers the events of other threads, whose calls
/// return immediately. Conversely, a call that delivers events returns only when no event is left.
///
/// Do not send from the main thread into a subject that a busy thread feeds: the call lasts as long as that thread
/// sends faster than the observers process. Instead, create a subject for each producer and `merge` them after an
/// `observeOn`, which releases the sender as soon as its event is queued.
public final class PublishSubject<Element: Sendable>: SubjectType {
  @usableFromInline let core = SubjectCore<Element>(capacity: 0)

  /// Creates a subject without observers.
  @inlinable
  public init() {}

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
