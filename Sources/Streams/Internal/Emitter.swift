/// A serialized entry point for streams that several threads may feed, such as `create`.
@usableFromInline
final class Emitter<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let next: @Sendable (Element) throws -> Void
  // Serializes the calls of `next` and the terminal event.
  @usableFromInline let drain = Drain()

  @inlinable
  init(_ subscription: Subscription, _ next: @escaping @Sendable (Element) throws -> Void) {
    self.subscription = subscription
    self.next = next
  }

  @inlinable
  func onNext(_ element: Element) {
    // Checks `isStopped` inside the drain; if it were checked earlier, the stream could terminate in between.
    drain.run { [self] in subscription.deliverIfActive(element, to: next) }
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    drain.run { [subscription] in subscription.finish(error) }
  }
}
