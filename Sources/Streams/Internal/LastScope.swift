/// A scope that emits final elements before it forwards completion.
@usableFromInline
package final class LastScope: Scope, @unchecked Sendable {
  // Safe: only the thread that ends the scope takes the closure.
  private var last: (@Sendable () throws -> Void)?

  @usableFromInline
  package init(_ downstream: Subscription, _ last: @escaping @Sendable () throws -> Void) {
    self.last = last
    super.init(downstream)
  }

  @usableFromInline
  override func terminated(_ error: (any Error)?) {
    if let error { return downstream.fail(error) }
    do {
      try last?()
      downstream.complete()
    } catch {
      downstream.fail(error)
    }
  }

  @usableFromInline
  override func released() { last = nil }
}
