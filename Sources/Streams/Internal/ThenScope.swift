/// The scope above a `flatMap` of a stream of one element: what that made of the element takes its place when it has
/// completed, in the subscription below, so that nothing needs to be merged.
@usableFromInline
final class ThenScope<Element: Sendable>: Scope, @unchecked Sendable {
  // Safe: `following` is written by the one element, and read by the one end that comes after it.
  private let next: Observable<Element>.Next
  @exclusivity(unchecked) @usableFromInline var following: Observable<Element>?

  @usableFromInline
  init(_ downstream: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.next = next
    super.init(downstream)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard error == nil, let following else { return downstream.finish(error) }
    downstream.disown(self)
    following.run(downstream, next)
  }
}
