/// A scope that contains the receiver of its events, so that both are one object.
@usableFromInline
package final class ReceiverScope<Receiver: Sendable>: Scope, @unchecked Sendable {
  @usableFromInline package let receiver: Receiver
  /// An object that the receiver adds later.
  // Safe: only the receiver uses it, and its events are serial.
  @usableFromInline package final var addition: AnyObject?
  @usableFromInline let onEnd: @Sendable (ReceiverScope, (any Error)?) -> Void

  /// - Parameter onEnd: A function that handles the terminal event. It should capture nothing, because the scope
  ///   retains it.
  @inlinable
  package init(
    _ downstream: Subscription, _ receiver: Receiver,
    onEnd: @escaping @Sendable (ReceiverScope, (any Error)?) -> Void
  ) {
    (self.receiver, self.onEnd) = (receiver, onEnd)
    super.init(downstream)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) { onEnd(self, error) }
}
