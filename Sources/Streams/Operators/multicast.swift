extension ObservableType {
  /// Shares one subscription to the source, which `connect()` creates, through `subject`, which outlives the
  /// connections.
  public func multicast<Subject: SubjectType>(_ subject: Subject) -> ConnectableObservable<Element>
  where Subject.Element == Element {
    ConnectableObservable(Sharing(asObservable(), keepsHub: true) { .other(subject) })
  }
}
