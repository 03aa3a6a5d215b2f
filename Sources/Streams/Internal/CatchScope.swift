/// A scope that answers an error with something else, in a tail call so that a million of them need no stack (law 27).
@usableFromInline
package final class CatchScope: Scope, @unchecked Sendable {
  // Safe: the handler is taken by the one thread that ends the scope.
  private var handler: (@Sendable (any Error) throws -> Void)?

  @usableFromInline
  package init(_ downstream: Subscription, _ handler: @escaping @Sendable (any Error) throws -> Void) {
    self.handler = handler
    super.init(downstream)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    guard let error, let handler else { return downstream.finish(error) }
    let downstream = self.downstream
    downstream.disown(self)
    downstream.tailCall {
      do { try handler(error) } catch { downstream.fail(error) }
    }
  }

  @usableFromInline
  override func released() { handler = nil }
}
