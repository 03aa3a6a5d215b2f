extension ObservableType {
  /// Subscribes to the stream and calls the closures on the main actor, for user interfaces (contract, law 31).
  ///
  /// Events are delivered on the main queue, in order. Events that arrive on that queue while it is empty are handled
  /// immediately. Without `onError`, an error goes to `Hooks.onUnhandledError` (contract, law 6).
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
  /// Starts the work and calls the closure for its result on the main actor, for user interfaces (contract, law 31).
  public func subscribeOnMain(
    onSuccess: (@MainActor (Element) -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribeOnMain(onNext: onSuccess, onError: onError, file: file, line: line)
  }
}
