import Streams

// Inlined into the client, where the model's type is known. Otherwise, each call would look up the metadata of the
// generic types.
extension ObservableType where Element: Contextual {
  /// Maps each element on the thread where it was emitted, then delivers results, error and completion on the
  /// `delivery` scheduler of the first element's backend.
  ///
  /// The scheduler travels with elements and errors, so it is known only when one arrives; without a scheduler,
  /// delivery is direct. All later events use the same scheduler, including the completion: `asSingle` delivers its
  /// element with it.
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

/// The path of events from a mapping thread to the subscriber: direct until a scheduler is chosen, then through its
/// queue.
///
/// One source uses it serially; the lock makes its state visible to all threads.
@usableFromInline
final class Delivery<Element: Sendable>: Sendable {
  @usableFromInline let subscription: Subscription
  @usableFromInline let receive: Observable<Element>.Next
  /// A `PublishSubject` as soon as a scheduler is chosen. Stored without its type, because looking up the metadata of a
  /// concrete lock is faster than of a generic lock. Guards the queue, which one source uses serially, for visibility
  /// between threads.
  @usableFromInline let queue = Locked<AnyObject?>(nil)

  @inlinable
  init(_ subscription: Subscription, _ receive: @escaping Observable<Element>.Next) {
    (self.subscription, self.receive) = (subscription, receive)
  }

  /// Delivers all later events on `scheduler`, unless one has already been chosen.
  @inlinable
  func choose(_ scheduler: (any ImmediateSchedulerType)?) {
    if let scheduler { startDelivery(on: scheduler) }
  }

  @usableFromInline
  func startDelivery(on scheduler: any ImmediateSchedulerType) {
    guard queue.withLock({ $0 == nil }) else { return }
    let fresh = PublishSubject<Element>()
    queue.withLock { $0 = fresh }
    let scope = HandlerScope(subscription) { [subscription] in subscription.finish($0) }
    fresh.observeOn(scheduler).run(scope) { [subscription, receive] in subscription.deliver($0, to: receive) }
  }

  @inlinable
  func next(_ element: Element) {
    if let chosen = queue.withLock({ $0 }) {
      enqueue(.next(element), in: chosen)
    } else {
      subscription.deliver(element, to: receive)
    }
  }

  /// Ends with `error`. The error's backend reports it and determines the scheduler.
  @usableFromInline
  func end(_ error: (any Error)?) {
    let reading = (error as? NetworkError)?.reading
    choose(reading?.delivery)
    let error = error.map { reading?.report($0) ?? $0 }
    guard let chosen = queue.withLock({ $0 }) else { return subscription.finish(error) }
    enqueueEnd(error, in: chosen)
  }

  // Apart, so that direct delivery does not look up the metadata of the event's type.
  @inline(never)
  private func enqueueEnd(_ error: (any Error)?, in chosen: AnyObject) {
    enqueue(error.map { .error($0) } ?? .completed, in: chosen)
  }

  @usableFromInline
  func enqueue(_ event: Event<Element>, in chosen: AnyObject) { (chosen as? PublishSubject<Element>)?.on(event) }
}
