extension ObservableType {
  /// The same stream through a serialiser of its own (laws 1 to 3): for sources from outside that may emit from several
  /// threads at once. What this library makes is serial already.
  public func serialize() -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let emitter = Emitter(subscription, next)
      let scope = HandlerScope(subscription) { emitter.finish($0) }
      source.run(scope) { emitter.onNext($0) }
    })
  }
}
