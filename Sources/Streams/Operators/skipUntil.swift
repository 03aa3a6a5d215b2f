extension ObservableType {
  /// Drops elements until `other` emits; `other` is then disposed (contract, law 16). An error of `other` fails the
  /// stream.
  ///
  /// If `other` completes without an element, no element is ever emitted; the terminal event of the source is still
  /// forwarded.
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
