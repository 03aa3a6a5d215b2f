/// A `BehaviorSubject` that never ends: for the state of a view model.
public final class BehaviorRelay<Element: Sendable>: ObservableType {
  private let core: ReplayCore<Element>
  private let initial: Element

  /// A relay that remembers `value`.
  public init(value: Element) {
    core = ReplayCore([value], capacity: 1, replaysAfterEnd: false)
    initial = value
  }

  /// The last element.
  public var value: Element { core.latest.element ?? initial }

  /// Remembers `element` and sends it to all observers (laws 2 and 3).
  public func accept(_ element: Element) { core.onNext(element) }

  /// The relay as a stream that cannot be fed: the last element first, then what is accepted later (law 25).
  public func asObservable() -> Observable<Element> {
    Observable(push: { [core] subscription, next in core.add(subscription, next) })
  }
}
