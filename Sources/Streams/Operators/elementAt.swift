extension ObservableType {
  /// Emits the element with the number `index`, from 0, and completes; a shorter stream fails with
  /// `StreamError.noElements`, and so does a negative `index`, without subscribing the source.
  ///
  ///     source:       -a--b--c-|
  ///     elementAt(1): ----(b|)
  @inlinable
  public func elementAt(_ index: Int) -> Observable<Element> {
    guard index >= 0 else { return .error(StreamError.noElements) }
    return skip(index).take(1).ifEmpty(switchTo: .error(StreamError.noElements))
  }
}
