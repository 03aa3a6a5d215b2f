extension ObservableType {
  /// Emits every event as an element; completes after the terminal event.
  ///
  ///     source:      -a--#
  ///     materialize: -A--(B|)    A = next(a), B = error
  @inlinable
  public func materialize() -> Observable<Event<Element>> {
    let source = asObservable()
    return Observable<Event<Element>>(push: { subscription, next in
      let scope = HandlerScope(subscription) { error in
        subscription.deliver(error.map { .error($0) } ?? .completed, to: next)
        subscription.complete()
      }
      source.run(scope) { subscription.deliver(.next($0), to: next) }
    })
  }
}
