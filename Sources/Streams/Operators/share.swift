/// The lifetime of the replay buffer of a shared stream.
public enum SubjectLifetimeScope: Sendable {
  /// The buffer lasts as long as the connection; each connection begins with an empty buffer.
  case whileConnected
  /// The buffer and the terminal event are kept forever, and later observers receive them.
  case forever
}

extension ObservableType {
  /// Shares one subscription to the source among all observers, from the first observer until the last one is disposed
  /// (contract, law 24).
  ///
  /// Later observers receive the last `replay` elements first (contract, law 25).
  ///
  /// - Parameters:
  ///   - replay: The number of elements in the replay buffer; 0 or less disables replay.
  ///   - scope: The lifetime of the replay buffer. With `whileConnected`, an observer that arrives after the stream has
  ///     terminated, or after all other observers have been disposed, subscribes to the source again with an empty
  ///     buffer. With `forever`, the buffer and the terminal event are kept.
  @inlinable
  public func share(replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected) -> Observable<Element> {
    Sharing(asObservable(), keepsHub: scope == .forever) {
      .core(SubjectCore(capacity: Swift.max(0, replay), replaysAfterEnd: true))
    }.refCounted()
  }
}
