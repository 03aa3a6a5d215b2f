extension ObservableType {
  /// Converts the stream to a `Completable`, dropping its elements.
  ///
  ///     source:         -a--b-|
  ///     ignoreElements: ------|
  public func ignoreElements() -> Completable {
    let source = asObservable()
    return Completable(
      trusted: Observable<Never>(push: { subscription, _ in source.run(Scope(subscription)) { _ in } }))
  }
}
