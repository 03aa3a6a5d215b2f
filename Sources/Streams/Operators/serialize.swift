extension ObservableType {
  /// Serializes the events of this stream (contract, laws 1 to 3).
  ///
  /// Use it for external sources that may emit from several threads concurrently. The streams of this library are
  /// serial already.
  public func serialize() -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let emitter = Emitter(subscription, next)
      let scope = HandlerScope(subscription) { emitter.finish($0) }
      source.run(scope) { emitter.onNext($0) }
    })
  }
}
