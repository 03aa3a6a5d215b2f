/// A `BehaviorSubject` that never terminates, for the state of a view model.
///
/// To change the state, use `update(_:)`. Reading `value` and accepting a new value are two steps, which would
/// overwrite an element that another thread accepts in between.
public final class BehaviorRelay<Element: Sendable>: ObservableType {
  @usableFromInline let core: SubjectCore<Element>
  private let initial: Element

  /// Creates a relay with the initial element `value`.
  public init(value: Element) {
    core = SubjectCore([value], capacity: 1)
    initial = value
  }

  /// The last accepted element, even if it has not been delivered yet (contract, law 32).
  public var value: Element { core.latest.element ?? initial }

  /// Stores `element` and sends it to all observers (contract, laws 2 and 3).
  ///
  /// `value` changes immediately. If another thread is delivering, or this call comes from inside an observer, the
  /// delivery in progress includes `element`, and this call returns before `element` is delivered. Otherwise this call
  /// delivers `element`, and all elements that other threads accept before it returns.
  @inlinable
  public func accept(_ element: Element) { core.onNext(element) }

  /// Changes the value in one step: passes it to `change` and accepts the result.
  ///
  /// If another element is accepted while `change` runs, `change` runs again with that element, so that no update is
  /// lost. Therefore `change` must have no side effects and must not accept elements on this relay. No lock is held
  /// while it runs. If `change` throws, the value stays the same.
  ///
  ///     state.update { $0.cart += 1 }
  ///
  /// - Parameter change: A closure that changes the value in place.
  /// - Returns: The value that `change` returned when it last ran.
  @discardableResult
  public func update<Result>(_ change: (inout Element) throws -> Result) rethrows -> Result {
    while true {
      let (element, number, _) = core.latest
      var changed = element ?? initial
      let result = try change(&changed)
      if core.accept(changed, after: number) { return result }
    }
  }

  /// Returns the relay as a read-only stream that emits the current value first, then the elements accepted later
  /// (contract, law 25).
  @inlinable
  public func asObservable() -> Observable<Element> { core.asObservable() }
}
