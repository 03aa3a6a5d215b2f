extension ObservableType {
  /// Subscribes to the stream and calls the closures on the main actor, for user interfaces (contract, law 31).
  ///
  /// The name says where the closures run. The subscription itself, and the work that it starts, stay on the caller's
  /// thread; `subscribeOn` moves them.
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

extension ObservableType {
  /// Subscribes to the stream and calls the closures on the main actor together with `object`, which is held weakly.
  ///
  /// ```swift
  /// search.results.subscribeOnMain(with: self) { me, results in me.results = results }.disposed(by: bag)
  /// ```
  /// When `object` has been deallocated, events are dropped. Without `onError`, an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
  public func subscribeOnMain<Object: AnyObject & Sendable>(
    with object: Object, onNext: (@MainActor (Object, Element) -> Void)? = nil,
    onError: (@MainActor (Object, any Error) -> Void)? = nil, onCompleted: (@MainActor (Object) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    let handleError: (@MainActor (any Error) -> Void)?
    if let onError {
      handleError = { [weak object] error in if let object { onError(object, error) } }
    } else {
      handleError = nil
    }
    return subscribeOnMain(
      onNext: { [weak object] element in if let object { onNext?(object, element) } }, onError: handleError,
      onCompleted: { [weak object] in if let object { onCompleted?(object) } }, file: file, line: line)
  }

  /// Passes every element to `onNext` on the main actor together with `object`, which is held weakly; an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
  public func bind<Object: AnyObject & Sendable>(
    with object: Object, onNext: @escaping @MainActor (Object, Element) -> Void, file: StaticString = #fileID,
    line: UInt = #line
  ) -> any Disposable {
    subscribeOnMain(with: object, onNext: onNext, file: file, line: line)
  }

  /// Assigns every element to a property of `object`, which is held weakly, on the main actor; an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
  ///
  /// ```swift
  /// search.results.bind(to: model, \.results).disposed(by: bag)
  /// ```
  @MainActor
  public func bind<Object: AnyObject & Sendable>(
    to object: Object, _ property: ReferenceWritableKeyPath<Object, Element>, file: StaticString = #fileID,
    line: UInt = #line
  ) -> any Disposable {
    subscribeOnMain(with: object, onNext: { $0[keyPath: property] = $1 }, file: file, line: line)
  }
}

extension Single {
  /// Starts the work and calls the closure for its result together with `object`, which is held weakly, on the thread on
  /// which the single emits.
  ///
  /// When `object` has been deallocated, the result is dropped. Without `onError`, an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
    onError: (@Sendable (Object, any Error) -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribe(with: object, onNext: onSuccess, onError: onError, file: file, line: line)
  }

  /// Starts the work and calls the closure for its result on the main actor together with `object`, which is held
  /// weakly.
  ///
  /// When `object` has been deallocated, the result is dropped. Without `onError`, an error goes to
  /// `Hooks.onUnhandledError` (contract, law 6).
  public func subscribeOnMain<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@MainActor (Object, Element) -> Void)? = nil,
    onError: (@MainActor (Object, any Error) -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    observable.subscribeOnMain(with: object, onNext: onSuccess, onError: onError, file: file, line: line)
  }
}
