extension ConnectableObservable {
  /// Connects with the first observer and disconnects with the last (law 24).
  public func refCount() -> Observable<Element> { sharing.refCounted() }
}
