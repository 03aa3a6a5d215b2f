/// The destination of a stream's elements: the scope downstream, and the function that receives them.
@usableFromInline
package struct Sink<Element: Sendable>: Sendable {
  @usableFromInline package let subscription: Subscription
  @usableFromInline package let next: Observable<Element>.Next

  @inlinable
  package init(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    self.subscription = subscription
    self.next = next
  }

  /// Passes `element` on; an error that the receiver throws fails the subscription (contract, law 7).
  @inlinable
  package func deliver(_ element: Element) { subscription.deliver(element, to: next) }
}

/// A stream as an object, for operators of one element type.
///
/// Such an operator outside generic code would convert each function that it receives, which allocates a wrapper.
@usableFromInline
package protocol StreamSource<Element>: AnyObject, Sendable {
  /// The type of the elements.
  associatedtype Element: Sendable

  /// Emits into `sink`, in order and serially, until its subscription has stopped.
  func start(_ sink: Sink<Element>)
}

extension Observable {
  /// Creates a stream that calls `source` for each subscription.
  @inlinable
  package init<Source: StreamSource>(_ source: Source) where Source.Element == Element {
    self.init(push: { source.start(Sink($0, $1)) })
  }
}
