extension ObservableType {
  /// Emits the only element; fails with `StreamError.noElements` or `.moreThanOneElement` if the count is not exactly
  /// one (contract, law 29).
  public func single() -> Observable<Element> { asSingle().asObservable() }

  /// Emits the only element that satisfies `predicate`; fails in the same cases as `single()`.
  public func single(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    filter(predicate).single()
  }

  /// Converts the stream to a single that emits its only element on completion.
  ///
  /// Fails with `StreamError.noElements` if the stream is empty, and with `StreamError.moreThanOneElement` at the
  /// second element (contract, law 29).
  @inlinable
  public func asSingle() -> Single<Element> { lastAsSingle(isOnly: true) }

  /// Converts the stream to a single that emits its last element on completion.
  ///
  /// Fails with `StreamError.noElements` if the stream is empty. If the element must be the only one, fails with
  /// `StreamError.moreThanOneElement` at the second.
  @inlinable
  package func lastAsSingle(isOnly: Bool = false) -> Single<Element> {
    let source = asObservable()
    return Single(
      trusted: Observable(push: { subscription, next in
        let found = Cell<Element?>(nil)
        let scope = LastScope(subscription) {
          guard let element = found.value.take() else { throw StreamError.noElements }
          try next(element)
        }
        source.run(scope) {
          if isOnly, found.value != nil { return subscription.fail(StreamError.moreThanOneElement) }
          found.value = $0
        }
      }))
  }
}
