/// What happens to the remembered elements of a shared stream between two connections.
public enum SubjectLifetimeScope: Sendable {
  /// Each connection begins with nothing remembered.
  case whileConnected
  /// They are kept, and so is the end: what comes after it gets that.
  case forever
}

extension ObservableType {
  /// One subscription to the source for all observers: made for the first, released when the last has left (law 24).
  ///
  /// Those who come later get the last `replay` elements first (law 25).
  ///
  /// - Parameters:
  ///   - replay: how many elements are remembered; 0 or less is none.
  ///   - scope: with `whileConnected`, the next observer after the source's end, or after everybody has left, starts the
  ///     source anew with nothing remembered; with `forever`, the remembered elements and the end are kept.
  @inlinable
  public func share(replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected) -> Observable<Element> {
    Sharing(asObservable(), keepsHub: scope == .forever) {
      Hub(SubjectCore(capacity: Swift.max(0, replay), replaysAfterEnd: true))
    }.refCounted()
  }
}
