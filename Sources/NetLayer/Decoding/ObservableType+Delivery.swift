import Streams

extension ObservableType where Element: Contextual {
  /// Maps each element where it was emitted, then delivers results, error and completion on the scheduler that the back
  /// end of the first of them asks for.
  ///
  /// The scheduler is known only when an element or error arrives, as it travels with them; without one there is no hop.
  /// From then on everything takes that way, the completion too: `asSingle` delivers its element with it.
  func delivering<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let delivery = Delivery(subscription, next)
      let scope = HandlerScope(subscription) { error in
        let reading = (error as? NetworkError)?.reading
        delivery.choose(reading?.delivery)
        delivery.end(error.map { reading?.report($0) ?? $0 })
      }
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
private final class Delivery<Element: Sendable>: Sendable {
  private let subscription: Subscription
  private let receive: Observable<Element>.Next
  /// A `PublishSubject`, once there is a scheduler; without its type, as a lock of a concrete type is found faster than one
  /// of a generic type. One serial source; the lock orders what its threads see.
  private let queue = Locked<AnyObject?>(nil)

  init(_ subscription: Subscription, _ receive: @escaping Observable<Element>.Next) {
    (self.subscription, self.receive) = (subscription, receive)
  }

  /// Sends all that follows over `scheduler`, unless one has been chosen before.
  func choose(_ scheduler: (any ImmediateSchedulerType)?) {
    guard let scheduler else { return }
    guard queue.withLock({ $0 == nil }) else { return }
    let fresh = PublishSubject<Element>()
    queue.withLock { $0 = fresh }
    let hop = HandlerScope(subscription) { [subscription] in subscription.finish($0) }
    fresh.observeOn(scheduler).run(hop) { [subscription, receive] in subscription.deliver($0, to: receive) }
  }

  func next(_ element: Element) {
    if let chosen { chosen.onNext(element) } else { subscription.deliver(element, to: receive) }
  }

  func end(_ error: (any Error)?) {
    guard let chosen else { return subscription.finish(error) }
    if let error { chosen.onError(error) } else { chosen.onCompleted() }
  }

  private var chosen: PublishSubject<Element>? { queue.withLock { $0 }.flatMap { $0 as? PublishSubject<Element> } }
}
