/// A scope that replaces an error with other events, in a tail call, so that a million replacements don't grow the
/// stack (contract, law 27).
@usableFromInline
package final class CatchScope: Scope, @unchecked Sendable {
  // Safe: only the thread that ends the scope takes the handler.
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
