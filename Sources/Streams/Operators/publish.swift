extension ObservableType {
  /// Shares one subscription to the source, which `connect()` creates, through a `PublishSubject`.
  public func publish() -> ConnectableObservable<Element> {
    ConnectableObservable(Sharing(asObservable()) { .core(SubjectCore(capacity: 0)) })
  }
}
