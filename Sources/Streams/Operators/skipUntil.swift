extension ObservableType {
  /// Leaves out elements until `other` emits, which is disposed then (law 16); its error is the stream's.
  ///
  /// When `other` completes without an element, nothing is ever emitted; the source still ends the stream.
  ///
  ///     source:    -a--b--c-|
  ///     other:     ---x
  ///     skipUntil: ----b--c-|
  @inlinable
  public func skipUntil<Trigger: ObservableConvertibleType>(_ other: Trigger) -> Observable<Element> {
    let source = asObservable()
    let trigger = other.asObservable()
    return Observable(push: { subscription, next in
      let gate = Emitter(subscription, next)
      let open = Flag()
      let triggerScope = HandlerScope(subscription, waits: false) { error in
        if let error { gate.finish(error) }
      }
      trigger.run(triggerScope) { _ in
        open.raise()
        triggerScope.dispose()
      }
      let sourceScope = HandlerScope(subscription) { gate.finish($0) }
      source.run(sourceScope) { if open.isRaised { gate.onNext($0) } }
    })
  }
}
