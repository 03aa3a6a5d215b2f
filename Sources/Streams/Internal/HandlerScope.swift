/// A scope whose end goes to a handler; it is disposed together with its parent.
@usableFromInline
package final class HandlerScope: Subscription, @unchecked Sendable {
  // Safe: the handler is taken by the one thread that ends the scope.
  private var handler: (@Sendable ((any Error)?) -> Void)?

  @usableFromInline
  package init(_ parent: Subscription, _ handler: @escaping @Sendable ((any Error)?) -> Void) {
    self.handler = handler
    super.init()
    parent.own(self)
  }

  /// A scope that nobody owns yet.
  @usableFromInline
  package init(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
    self.handler = handler
    super.init()
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) { handler?(error) }

  @usableFromInline
  override func released() { handler = nil }
}
