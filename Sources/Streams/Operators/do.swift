extension ObservableType {
  /// Calls closures for the events, which pass unchanged.
  ///
  /// The `on` closures run before the event is forwarded, the `after` closures afterwards. An error that a closure
  /// throws fails the stream (contract, law 7).
  ///
  /// `onSubscribe` runs before the source is subscribed, and `onSubscribed` afterwards. `onDispose` runs once, after
  /// the terminal event or the disposal (contract, law 5). Errors thrown downstream do not reach `onError`, because
  /// errors never travel upstream.
  @inlinable
  public func `do`(
    onNext: (@Sendable (Element) throws -> Void)? = nil, afterNext: (@Sendable (Element) throws -> Void)? = nil,
    onError: (@Sendable (any Error) throws -> Void)? = nil, afterError: (@Sendable (any Error) throws -> Void)? = nil,
    onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Observable<Element> {
    let source = asObservable()
    let watched: Observable<Element>
    if onNext == nil && afterNext == nil {
      watched = source
    } else {
      watched = Observable(push: { subscription, next in
        source.run(subscription) {
          try onNext?($0)
          try next($0)
          try afterNext?($0)
        }
      })
    }
    if onError == nil && afterError == nil && onCompleted == nil && afterCompleted == nil && onSubscribe == nil
      && onSubscribed == nil && onDispose == nil
    {
      return watched
    }
    return Observable(push: { subscription, next in
      onSubscribe?()
      let scope = HandlerScope(subscription) { error in
        do {
          if let error { try onError?(error) } else { try onCompleted?() }
          subscription.finish(error)
          if let error { try afterError?(error) } else { try afterCompleted?() }
        } catch {
          subscription.fail(error)
        }
      }
      if let onDispose { subscription.own(Disposables.create(with: onDispose)) }
      watched.run(scope) { subscription.deliver($0, to: next) }
      onSubscribed?()
    })
  }
}
