/// A scope whose end goes to a handler; it is disposed together with its parent, which it leaves when it ends.
@usableFromInline
package final class HandlerScope: Subscription, @unchecked Sendable {
  // Safe: the handler is taken by the one thread that ends the scope.
  private var handler: (@Sendable ((any Error)?) -> Void)?
  private let parent: Subscription?

  @usableFromInline
  package init(_ parent: Subscription, _ handler: @escaping @Sendable ((any Error)?) -> Void) {
    self.handler = handler
    self.parent = parent
    super.init()
    parent.own(self)
  }

  /// A scope that nobody owns yet.
  @usableFromInline
  package init(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
    self.handler = handler
    parent = nil
    super.init()
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    handler?(error)
    // After the handler: when the parent has ended by it, that has released this scope before what it got later (law 5).
    if let parent, !parent.isStopped { parent.disown(self) }
  }

  @usableFromInline
  override func released() { handler = nil }
}
