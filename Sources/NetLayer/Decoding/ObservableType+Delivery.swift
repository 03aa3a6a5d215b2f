import Streams

// Inlined into the client, where models have a type: types made of types that are not known are looked up for each call.
extension ObservableType where Element: Contextual {
  /// Maps each element where it was emitted, then delivers results, error and completion on the scheduler that the back
  /// end of the first of them asks for.
  ///
  /// The scheduler is known only when an element or error arrives, as it travels with them; without one there is no hop.
  /// From then on everything takes that way, the completion too: `asSingle` delivers its element with it.
  @inlinable
  func delivering<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let delivery = Delivery(subscription, next)
      let scope = HandlerScope(subscription) { delivery.end($0) }
      source.run(scope) { element in
        delivery.choose(element.reading.delivery)
        if let result = try element.reporting(transform) { delivery.next(result) }
      }
    })
  }
}

/// The way from a mapping thread to whoever subscribed: straight, until a scheduler is chosen, then through its queue.
///
/// Used serially, by one source; the lock orders what its threads see.
@usableFromInline
final class Delivery<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let receive: Observable<Element>.Next
  /// A `PublishSubject`, once there is a scheduler; without its type, as a lock of a concrete type is found faster than one
  /// of a generic type. One serial source; the lock orders what its threads see.
  @usableFromInline let queue = Locked<AnyObject?>(nil)

  @inlinable
  init(_ subscription: Subscription, _ receive: @escaping Observable<Element>.Next) {
    (self.subscription, self.receive) = (subscription, receive)
  }

  /// Sends all that follows over `scheduler`, unless one has been chosen before.
  @inlinable
  func choose(_ scheduler: (any ImmediateSchedulerType)?) {
    if let scheduler { hop(to: scheduler) }
  }

  @usableFromInline
  func hop(to scheduler: any ImmediateSchedulerType) {
    guard queue.withLock({ $0 == nil }) else { return }
    let fresh = PublishSubject<Element>()
    queue.withLock { $0 = fresh }
    let hop = HandlerScope(subscription) { [subscription] in subscription.finish($0) }
    fresh.observeOn(scheduler).run(hop) { [subscription, receive] in subscription.deliver($0, to: receive) }
  }

  @inlinable
  func next(_ element: Element) {
    if let chosen = queue.withLock({ $0 }) {
      enqueue(.next(element), in: chosen)
    } else {
      subscription.deliver(element, to: receive)
    }
  }

  /// Ends with `error`, which its backend reports and says where to deliver.
  @usableFromInline
  func end(_ error: (any Error)?) {
    let reading = (error as? NetworkError)?.reading
    choose(reading?.delivery)
    let error = error.map { reading?.report($0) ?? $0 }
    guard let chosen = queue.withLock({ $0 }) else { return subscription.finish(error) }
    enqueue(error.map { .error($0) } ?? .completed, in: chosen)
  }

  @usableFromInline
  func enqueue(_ event: Event<Element>, in chosen: AnyObject) { (chosen as? PublishSubject<Element>)?.on(event) }
}
