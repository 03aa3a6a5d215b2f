/// A scope that passes its terminal event to a handler. Its parent disposes the scope, and the scope leaves its parent
/// when it ends.
@usableFromInline
package final class HandlerScope: Subscription, @unchecked Sendable {
  // Safe: only the thread that ends the scope takes the handler.
  private var handler: (@Sendable ((any Error)?) -> Void)?
  private let parent: Subscription?
  private let isOwned: Bool
  private let waits: Bool

  /// - Parameter waits: Whether backpressure of the parent applies to this scope; `false` for triggers.
  @usableFromInline
  package init(
    _ parent: Subscription, waits: Bool = true, _ handler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.handler = handler
    self.parent = parent
    self.waits = waits
    isOwned = true
    super.init()
    parent.own(self)
    // Another thread may be ending the parent, and has not released what it owns yet. The next source must not start.
    if parent.isStopped { dispose() }
  }

  /// Creates a scope without an owner, optionally above `parent`.
  @usableFromInline
  package init(above parent: Subscription? = nil, _ handler: @escaping @Sendable ((any Error)?) -> Void) {
    self.handler = handler
    self.parent = parent
    isOwned = false
    waits = true
    super.init()
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    handler?(error)
    // This runs after the handler: if the handler has ended the parent, the parent has already released this scope in
    // order (contract, law 5).
    if isOwned, let parent, !parent.isStopped { parent.disown(self) }
  }

  @usableFromInline
  override func released() { handler = nil }

  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    guard waits, let parent else { return true }
    return parent.takesMore(orCall: resume)
  }

  override var loop: Subscription? { waits ? parent?.loop : nil }
}
