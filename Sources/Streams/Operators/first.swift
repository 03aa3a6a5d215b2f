extension ObservableType {
  /// The first element, or `nil` of a stream without any; the source is disposed with it.
  ///
  ///     source:  -a--b-|
  ///     first(): -(a|)
  public func first() -> Single<Element?> {
    Single(trusted: take(1).map { $0 }.ifEmpty(default: nil))
  }
}
