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
  private let core: ReplayCore<Element>

  private init(capacity: Int) { core = ReplayCore([], capacity: capacity, replaysAfterEnd: true) }

  /// A subject that remembers the last `bufferSize` elements; 0 or less remembers none.
  public static func create(bufferSize: Int) -> ReplaySubject<Element> {
    ReplaySubject(capacity: Swift.max(0, bufferSize))
  }

  /// A subject that remembers all elements, for as long as it lives.
  public static func createUnbounded() -> ReplaySubject<Element> { ReplaySubject(capacity: .max) }

  /// Whether anybody is subscribed.
  public var hasObservers: Bool { core.hasObservers }

  /// Takes one event.
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): core.onNext(element)
    case .error(let error): core.finish(error)
    case .completed: core.finish(nil)
    }
  }

  /// The subject as a stream that cannot be fed.
  public func asObservable() -> Observable<Element> {
    Observable(push: { [core] subscription, next in core.add(subscription, next) })
  }
}
