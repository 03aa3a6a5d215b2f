/// The scope above a `flatMap` of a stream of one element.
///
/// The following stream runs after that element has completed, in the subscription downstream, so that nothing needs to
/// be merged.
@usableFromInline
final class ThenScope: Scope, @unchecked Sendable {
  // Safe: written by the only element, taken by the terminal event after it; disposal does not touch it.
  @exclusivity(unchecked) @usableFromInline var following: (@Sendable () -> Void)?

  @usableFromInline
  override init(_ downstream: Subscription) { super.init(downstream) }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard error == nil, let following = following.take() else { return downstream.finish(error) }
    following()
    // This runs afterwards: if the second stream has ended the downstream, the downstream has already released this
    // scope in order (contract, law 5).
    if !downstream.isStopped { downstream.disown(self) }
  }
}
