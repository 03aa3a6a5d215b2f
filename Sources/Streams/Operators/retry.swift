extension ObservableType {
  /// Subscribes again after each error, without end; a `take` below stops it (law 19).
  ///
  ///             -a-#
  ///     retry() -a--a--a--a…
  @inlinable
  public func retry() -> Observable<Element> { retry(.max) }

  /// Subscribes again after an error until there have been `maxAttemptCount` attempts in all; then the last error is
  /// forwarded (law 18, RxSwift's count). With 0 or less nothing is attempted and the stream completes.
  ///
  ///              -a-#
  ///     retry(2) -a--a-#
  @inlinable
  public func retry(_ maxAttemptCount: Int) -> Observable<Element> {
    let source = asObservable()
    guard maxAttemptCount > 0 else { return .empty() }
    return Observable(push: { subscription, next in
      let loop = AttemptLoop(subscription, attempts: maxAttemptCount) { scope in
        source.run(scope) { subscription.deliver($0, to: next) }
      }
      loop.next()
    })
  }
}

/// Subscribes attempt after attempt, in a loop (law 27).
@usableFromInline
final class AttemptLoop: @unchecked Sendable {  // safe: `left` is touched only inside the trampoline
  private let downstream: Subscription
  private let attempt: @Sendable (Subscription) -> Void
  private let current = SerialDisposable()
  private let trampoline = Trampoline()
  private var left: Int

  @usableFromInline
  init(_ downstream: Subscription, attempts: Int, attempt: @escaping @Sendable (Subscription) -> Void) {
    self.downstream = downstream
    self.attempt = attempt
    left = attempts
    downstream.own(current)
  }

  @usableFromInline
  func next() {
    trampoline.bounce {
      guard !downstream.isStopped else { return }
      left -= 1
      let isLast = left == 0
      let scope = HandlerScope { [self] error in
        if error == nil || isLast { downstream.finish(error) } else { next() }
      }
      current.disposable = scope
      attempt(scope)
    }
  }
}
