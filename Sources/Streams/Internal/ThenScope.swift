/// The scope above a `flatMap` of a stream of one element.
///
/// The following stream runs after that element has completed, in the subscription downstream, so that nothing needs to
/// be merged.
@usableFromInline
final class ThenScope<Input: Sendable, Element: Sendable>: Scope, @unchecked Sendable {
  @usableFromInline let selector: @Sendable (Input) throws -> Single<Element>
  @usableFromInline let next: Observable<Element>.Next
  // Safe: written by the only element, taken by the terminal event after it; disposal does not touch it.
  @exclusivity(unchecked) @usableFromInline var following: Observable<Element>.Push?

  @inlinable
  init(
    _ downstream: Subscription, _ selector: @escaping @Sendable (Input) throws -> Single<Element>,
    _ next: @escaping Observable<Element>.Next
  ) {
    self.selector = selector
    self.next = next
    super.init(downstream)
  }

  /// Continues with the stream for `input`. If its element is known, it is delivered immediately.
  @inlinable
  func push(_ input: Input) throws {
    let stream = try selector(input).observable
    guard let element = stream.scalar else { return following = stream.push }
    if !downstream.isStopped { try next(element) }
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard error == nil, let following else { return downstream.finish(error) }
    self.following = nil
    following(downstream, next)
    // This runs afterwards: if the second stream has ended the downstream, the downstream has already released this
    // scope in order (contract, law 5).
    if !downstream.isStopped { downstream.disown(self) }
  }
}
