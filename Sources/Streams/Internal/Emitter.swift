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
    drain.run(self, element) { $0.subscription.deliverIfActive($1, to: $0.next) }
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    drain.run(subscription, error) { $0.finish($1) }
  }
}
