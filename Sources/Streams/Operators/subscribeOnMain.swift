extension ObservableType {
  /// Starts the stream and handles its events on the main actor, for user interfaces (law 31).
  ///
  /// Events hop to the main queue first, in order; when they come from there with nothing queued, they are handled at
  /// once. An error without `onError` goes to `Hooks.onUnhandledError` (law 6).
  public func subscribeOnMain(
    onNext: (@MainActor (Element) -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    onCompleted: (@MainActor () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    let handleError: (@Sendable (any Error) -> Void)?
    if let onError {
      handleError = { error in MainActor.assumeIsolated { onError(error) } }
    } else {
      handleError = nil
    }
    return observeOn(MainScheduler.instance).subscribe(
      onNext: { element in MainActor.assumeIsolated { onNext?(element) } }, onError: handleError,
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } }, file: file, line: line)
  }
}

extension Single {
  /// Starts the work and handles its result on the main actor, for user interfaces (law 31).
  public func subscribeOnMain(
    onSuccess: (@MainActor (Element) -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribeOnMain(onNext: onSuccess, onError: onError, file: file, line: line)
  }
}
