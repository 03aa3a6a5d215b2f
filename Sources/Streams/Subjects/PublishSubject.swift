/// A stream fed by hand: each observer gets what is sent after it has subscribed.
///
/// May be fed from several threads at once and re-entrantly: events are delivered one at a time, in the order of
/// arrival, to those subscribed when each is delivered (laws 2 and 3). After its end, observers get that end (law 26).
///
/// No sender waits for another: an event sent while a thread is delivering is delivered by that thread, and the call that
/// sent it returns immediately. Conversely, a call that delivers also delivers what other threads send meanwhile, and
/// returns when nothing is left. From the main thread, do not send into a subject that a busy thread feeds: the call lasts
/// as long as that thread keeps sending faster than the observers take. Give each producer a subject of its own, and
/// `merge` them after an `observeOn`, which lets go of the sender as soon as its event is queued.
public final class PublishSubject<Element: Sendable>: SubjectType {
  @usableFromInline let core = SubjectCore<Element>(capacity: 0)

  /// A subject without observers.
  @inlinable
  public init() {}

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
