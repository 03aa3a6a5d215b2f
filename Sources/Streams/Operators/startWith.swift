extension ObservableType {
  /// Emits `element` before the source's elements. The source is not subscribed if it ends the stream (contract, law
  /// 15).
  ///
  ///     source:       --b--c-|
  ///     startWith(a): a-b--c-|
  @inlinable
  public func startWith(_ element: Element) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      do { try next(element) } catch { return subscription.fail(error) }
      source.run(subscription, next)
    })
  }

  /// Emits `elements` before the source's elements. The source is not subscribed if they end the stream (contract, law
  /// 15).
  @inlinable
  public func startWith(_ elements: Element...) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      do {
        for element in elements {
          if subscription.isStopped { return }
          try next(element)
        }
      } catch {
        return subscription.fail(error)
      }
      source.run(subscription, next)
    })
  }
}
