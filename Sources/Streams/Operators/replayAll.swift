extension ObservableType {
  /// Shares one subscription to the source, which `connect()` creates; later observers receive all previous elements
  /// first.
  public func replayAll() -> ConnectableObservable<Element> {
    replay(.max)
  }
}
