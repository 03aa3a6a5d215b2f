extension ObservableType {
  /// Emits the element at `index`, counted from 0, and completes.
  ///
  /// Fails with `StreamError.noElements` if the stream is shorter, or if `index` is negative; in that case the source
  /// is not subscribed.
  ///
  ///     source:       -a--b--c-|
  ///     elementAt(1): ----(b|)
  @inlinable
  public func elementAt(_ index: Int) -> Observable<Element> {
    guard index >= 0 else { return .error(StreamError.noElements) }
    return skip(index).take(1).ifEmpty(switchTo: .error(StreamError.noElements))
  }
}
