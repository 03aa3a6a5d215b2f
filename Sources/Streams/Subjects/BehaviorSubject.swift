/// A stream fed by hand that remembers its last element: each observer gets that first, then what is sent later.
///
/// The remembered element is delivered inside `subscribe`, outside any lock, and strictly before live ones, none lost
/// and none twice (law 25). May be fed from several threads at once and re-entrantly (laws 2 and 3). After its end,
/// observers get that end only (law 26).
///
/// A call that delivers also delivers what other threads send meanwhile; `PublishSubject` says what that means for the main
/// thread.
public final class BehaviorSubject<Element: Sendable>: SubjectType {
  @usableFromInline let core: SubjectCore<Element>
  private let initial: Element

  /// A subject that remembers `value`.
  public init(value: Element) {
    core = SubjectCore([value], capacity: 1)
    initial = value
  }

  /// Whether anybody is subscribed.
  public var hasObservers: Bool { core.hasObservers }

  /// The element accepted last, even if a thread has yet to deliver it (contract, law 32).
  ///
  /// - Throws: the error with which the subject ended, if it did.
  public func value() throws -> Element {
    let (element, _, end) = core.latest
    if case .some(.some(let error)) = end { throw error }
    return element ?? initial
  }

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
