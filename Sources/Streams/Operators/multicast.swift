extension ObservableType {
  /// Shares one subscription to the source, which `connect()` creates, through `subject`, which outlives the
  /// connections.
  public func multicast<Subject: SubjectType>(_ subject: Subject) -> ConnectableObservable<Element>
  where Subject.Element == Element {
    ConnectableObservable(Sharing(asObservable(), keepsHub: true) { Hub(subject) })
  }

  /// Shares one subscription to the source, which `connect()` creates, through a subject that `makeSubject` creates for
  /// each connection.
  public func multicast<Subject: SubjectType>(
    makeSubject: @escaping @Sendable () -> Subject
  ) -> ConnectableObservable<Element> where Subject.Element == Element {
    ConnectableObservable(Sharing(asObservable()) { Hub(makeSubject()) })
  }
}
