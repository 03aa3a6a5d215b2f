import Streams

// Inlined into the client, where the model's type is known. Otherwise, each call would look up the metadata of the
// generic types.
extension ObservableType where Element: Contextual {
  /// Maps each element on the thread where it was emitted, then delivers results, error and completion on the
  /// `delivery` scheduler of the first element's backend.
  @inlinable
  func delivering<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable(push: { subscription, next in
      let scope = ReceiverScope(subscription, Delivery(transform, next)) { $0.end($1) }
      source.run(scope) { try scope.receive($0) }
    })
  }
}

extension ObservableType where Element == Response {
  /// Maps each response where it was emitted, and reports errors. The result is delivered, or passed on to an awaiting task.
  package func reading<Result: Sendable>(
    isDelivered: Bool, _ read: @escaping @Sendable (Response) throws -> Result
  ) -> Observable<Result> {
    isDelivered ? delivering(read) : compactMap { try $0.reporting(read) }
  }
}

extension Single where Element: Contextual {
  /// Maps and delivers the element like `Observable.delivering`. It must not be provisional.
  @inlinable
  func delivering<Result: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Result) -> Single<Result> {
    Single<Result>(trusted: asObservable().delivering(transform))
  }
}

/// The path of events from a mapping thread to the subscriber: direct until a scheduler is chosen, then through its
/// queue.
@usableFromInline
struct Delivery<Source: Contextual & Sendable, Element: Sendable>: Sendable {
  @usableFromInline let transform: @Sendable (Source) throws -> Element
  @usableFromInline let next: Observable<Element>.Next

  @inlinable
  init(_ transform: @escaping @Sendable (Source) throws -> Element, _ next: @escaping Observable<Element>.Next) {
    (self.transform, self.next) = (transform, next)
  }
}

extension ReceiverScope {
  @inlinable
  func queue<Source, Element>() -> ObserveOn<Element>? where Receiver == Delivery<Source, Element> {
    // Only `choose` adds an object.
    addition.map { unsafeDowncast($0, to: ObserveOn<Element>.self) }
  }

  @inlinable
  func receive<Source, Element>(_ element: Source) throws where Receiver == Delivery<Source, Element> {
    choose(element.reading.delivery)
    guard let result = try element.reporting(receiver.transform) else { return }
    if let queue = queue() { queue.push(result) } else { downstream.deliver(result, to: receiver.next) }
  }

  /// Ends with `error`. The error's backend reports it and determines the scheduler.
  @inlinable
  func end<Source, Element>(_ error: (any Error)?) where Receiver == Delivery<Source, Element> {
    let (error, scheduler) = finalError(error)
    choose(scheduler)
    if let queue = queue() { queue.finish(error) } else { downstream.finish(error) }
  }

  @inlinable
  func choose<Source, Element>(
    _ scheduler: (any ImmediateSchedulerType)?
  ) where Receiver == Delivery<Source, Element> {
    if let scheduler, addition == nil { addition = ObserveOn(downstream, scheduler, receiver.next) }
  }
}

/// Returns the error with which a call ends, reported by its backend, and the `delivery` scheduler of that backend.
@usableFromInline
func finalError(_ error: (any Error)?) -> (error: (any Error)?, scheduler: (any ImmediateSchedulerType)?) {
  let reading = (error as? NetworkError)?.reading
  return (error.map { reading?.report($0) ?? $0 }, reading?.delivery)
}
