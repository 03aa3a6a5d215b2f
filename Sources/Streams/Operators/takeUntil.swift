extension ObservableType {
  /// Emits elements until `other` emits, then completes. Completion of `other` has no effect; its error fails the
  /// stream.
  ///
  /// When one of the two streams ends the result, the other is disposed immediately (contract, law 16).
  ///
  ///     source:    -a--b--c--d-|
  ///     other:     -------x
  ///     takeUntil: -a--b--|
  @inlinable
  public func takeUntil<Trigger: ObservableConvertibleType>(_ other: Trigger) -> Observable<Element> {
    let source = asObservable()
    let trigger = other.asObservable()
    return Observable(push: { subscription, next in
      let gate = Emitter(subscription, next)
      let triggerScope = HandlerScope(subscription, waits: false) { error in
        if let error { gate.finish(error) }
      }
      trigger.run(triggerScope) { _ in gate.finish(nil) }
      let sourceScope = HandlerScope(subscription) { gate.finish($0) }
      source.run(sourceScope) { gate.onNext($0) }
    })
  }
}
