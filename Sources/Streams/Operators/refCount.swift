extension ConnectableObservable {
  /// Connects for the first observer and disconnects after the last one has been disposed (contract, law 24).
  public func refCount() -> Observable<Element> { sharing.refCounted() }
}
