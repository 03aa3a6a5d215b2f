/// The serialised entrance of a stream that several threads may feed: `create` and the replaying subjects.
@usableFromInline
final class Emitter<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let next: @Sendable (Element) throws -> Void
  @usableFromInline let drain = Drain()

  @inlinable
  init(_ subscription: Subscription, _ next: @escaping @Sendable (Element) throws -> Void) {
    self.subscription = subscription
    self.next = next
  }

  @inlinable
  func onNext(_ element: Element) {
    if drain.tryEnter() {
      // Asked inside: before, the end could come in between.
      subscription.deliverIfActive(element, to: next)
      drain.exit()
    } else {
      enqueue(element)
    }
  }

  @usableFromInline
  func enqueue(_ element: Element) {
    drain.enqueue { [self] in
      subscription.deliverIfActive(element, to: next)
    }
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    drain.run { [subscription] in subscription.finish(error) }
  }
}
