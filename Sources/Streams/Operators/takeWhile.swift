/// The treatment of the element that ends a `takeWhile`.
public enum TakeBehavior: Sendable {
  /// The element is dropped.
  case exclusive
  /// The element is emitted.
  case inclusive
}

extension ObservableType {
  /// Emits elements as long as they satisfy `predicate`, then completes and disposes the source.
  ///
  ///     source:                   -1--2--3-|
  ///     takeWhile(<2):            -1--|
  ///     takeWhile(inclusive, <2): -1--(2|)
  @inlinable
  public func takeWhile(
    _ behavior: TakeBehavior = .exclusive, _ predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = Scope(subscription)
      source.run(scope) {
        do {
          let goesOn = try predicate($0)
          if goesOn || behavior == .inclusive { try next($0) }
          if !goesOn { subscription.complete() }
        } catch {
          subscription.fail(error)
        }
      }
    })
  }
}
