extension ObservableType {
  /// Shares one subscription to the source, which `connect()` creates; later observers receive the last `bufferSize`
  /// elements first.
  public func replay(_ bufferSize: Int) -> ConnectableObservable<Element> {
    ConnectableObservable(
      Sharing(asObservable()) {
        .core(SubjectCore(capacity: Swift.max(0, bufferSize), replaysAfterEnd: true))
      })
  }
}
