extension ObservableType {
  /// Emits `element` instead of an error, and then completes.
  ///
  ///     source:                  -a--#
  ///     catchErrorJustReturn(x): -a--(x|)
  @inlinable
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = ReturnScope(subscription, element, next)
      source.run(scope) { scope.push($0) }
    })
  }
}

@usableFromInline
final class ReturnScope<Element: Sendable>: Scope, @unchecked Sendable {  // safe: adds constants
  @usableFromInline let element: Element
  @usableFromInline let next: Observable<Element>.Next

  @inlinable
  init(_ downstream: Subscription, _ element: Element, _ next: @escaping Observable<Element>.Next) {
    self.element = element
    self.next = next
    super.init(downstream)
  }

  @inlinable
  func push(_ element: Element) { downstream.deliver(element, to: next) }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    if error != nil { downstream.deliverIfActive(element, to: next) }
    downstream.complete()
  }
}
