extension ObservableType {
  /// Shares one subscription to the source, made by `connect()`; later observers receive all previous elements first.
  public func replayAll() -> ConnectableObservable<Element> {
    replay(.max)
  }
}
