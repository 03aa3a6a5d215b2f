extension ObservableType {
  /// Shares one subscription to the source, made by `connect()`; those who come later get all elements so far first.
  public func replayAll() -> ConnectableObservable<Element> {
    replay(.max)
  }
}
