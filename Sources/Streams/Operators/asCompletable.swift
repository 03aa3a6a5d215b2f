extension ObservableType where Element == Never {
  /// A stream without elements as a `Completable`.
  public func asCompletable() -> Completable { Completable(trusted: asObservable()) }
}

extension Single {
  /// The same without its element.
  public func asCompletable() -> Completable { observable.ignoreElements() }
}
