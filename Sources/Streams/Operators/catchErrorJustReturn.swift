extension ObservableType {
  /// Emits `element` in place of an error, and completes.
  ///
  ///                             -a--#
  ///     catchErrorJustReturn(b) -a--(b|)
  @inlinable
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> {
    catchError { _ in .just(element) }
  }
}
