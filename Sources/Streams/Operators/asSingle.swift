extension ObservableType {
  /// The one element of the stream, delivered on completion: fails with `StreamError.noElements` if there is none, and
  /// with `StreamError.moreThanOneElement` at the second (law 29).
  public func asSingle() -> Single<Element> { lastAsSingle(isOnly: true) }

  /// The last element of the stream, delivered on completion: fails with `StreamError.noElements` if there is none, and
  /// if it must be the only one, with `StreamError.moreThanOneElement` at the second.
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
