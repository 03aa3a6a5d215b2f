extension ObservableType {
  /// Emits until `other` emits, then completes; `other` completing changes nothing, its error is the stream's.
  ///
  /// Whichever side ends the stream, the other is disposed at once (law 16).
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
