extension ObservableType {
  /// Emits the first element and disposes the source, or emits `nil` if the stream is empty.
  ///
  ///     source:  -a--b-|
  ///     first(): -(a|)
  public func first() -> Single<Element?> {
    Single(trusted: take(1).map { $0 }.ifEmpty(default: nil))
  }
}
