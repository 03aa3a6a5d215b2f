/// A scope whose end goes to a handler; it is disposed together with its parent, which it leaves when it ends.
@usableFromInline
package final class HandlerScope: Subscription, @unchecked Sendable {
  // Safe: the handler is taken by the one thread that ends the scope.
  private var handler: (@Sendable ((any Error)?) -> Void)?
  private let parent: Subscription?
  private let isOwned: Bool
  private let waits: Bool

  /// - Parameter waits: whether a source that can wait waits for the parent; not where its elements only say when.
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
  }

  /// A scope that nobody owns yet; above `parent`, where there is one.
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
    // After the handler: when the parent has ended by it, that has released this scope before what it got later (law 5).
    if isOwned, let parent, !parent.isStopped { parent.disown(self) }
  }

  @usableFromInline
  override func released() { handler = nil }

  package override func takesMore(orCall resume: @escaping @Sendable () -> Void) -> Bool {
    guard waits, let parent else { return true }
    return parent.takesMore(orCall: resume)
  }
}
