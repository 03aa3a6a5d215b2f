/// The scope above a `flatMap` of a stream of one element: what takes that element's place runs when it has completed, in
/// the subscription below, so that nothing needs to be merged.
@usableFromInline
final class ThenScope: Scope, @unchecked Sendable {
  // Safe: written by the one element, taken by the one end that comes after it; disposal leaves it alone.
  @usableFromInline var following: (@Sendable () -> Void)?

  @usableFromInline
  override init(_ downstream: Subscription) { super.init(downstream) }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard error == nil, let following = following.take() else { return downstream.finish(error) }
    following()
    // After it: when the downstream has ended by it, that has released this scope before what it got later (law 5).
    if !downstream.isStopped { downstream.disown(self) }
  }
}
