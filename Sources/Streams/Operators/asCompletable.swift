extension ObservableType where Element == Never {
  /// Converts this stream, which emits no elements, to a `Completable`.
  public func asCompletable() -> Completable { Completable(trusted: asObservable()) }
}

extension Single {
  /// Converts this single to a `Completable`, dropping its element.
  public func asCompletable() -> Completable { observable.ignoreElements() }
}
