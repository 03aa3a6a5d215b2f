extension ObservableType {
  /// Emits `element` in place of an error, and completes.
  ///
  ///     source:                  -a--#
  ///     catchErrorJustReturn(x): -a--(x|)
  @inlinable
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> {
    catchError { _ in .just(element) }
  }
}
