import Streams

/// What knows the rules of the back end it came from.
protocol Ruled: Sendable {
  var rules: Rules? { get }
}

extension Response: Ruled {}
extension NetworkError: Ruled {}

extension JSON: Ruled {
  var rules: Rules? { origin?.rules }
}

extension ObservableType where Element: Ruled {
  /// Maps each element where it was emitted, then delivers results, error and completion on the scheduler that the back
  /// end of the first of them asks for.
  ///
  /// The scheduler is known only when an element or error arrives, as it travels with them; without one there is no hop.
  /// From then on everything takes that way, the completion too: `asSingle` delivers its element with it.
  func delivering<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable.create { observer in
      let delivery = Delivery(to: observer)
      let upstream = source.subscribe(
        onNext: { element in
          guard !delivery.hasEnded else { return }
          delivery.choose(element.rules?.delivery)
          do {
            if let result = try element.reportingLast(transform) { delivery.next(result) }
          } catch {
            delivery.end(error)
          }
        },
        onError: { error in
          delivery.choose((error as? NetworkError)?.rules?.delivery)
          delivery.end((error as? NetworkError)?.reported() ?? error)
        },
        onCompleted: { delivery.end(nil) })
      return Disposables.create(upstream, delivery.hop)
    }
  }
}

/// The way from a mapping thread to an observer: straight, until a scheduler is chosen, then through its queue.
///
/// Used serially, by one source; the lock orders what its threads see.
private final class Delivery<Element: Sendable>: Sendable {
  private struct State {
    var queue: PublishSubject<Element>?
    var ended = false
  }

  private let observer: AnyObserver<Element>
  private let state = Locked(State())
  /// Keeps what is queued from being delivered.
  let hop = SerialDisposable()

  init(to observer: AnyObserver<Element>) { self.observer = observer }

  var hasEnded: Bool { state.withLock { $0.ended } }

  /// Sends all that follows over `scheduler`, unless one has been chosen before.
  func choose(_ scheduler: (any ImmediateSchedulerType)?) {
    guard let scheduler else { return }
    let fresh: PublishSubject<Element>? = state.withLock { state in
      guard state.queue == nil else { return nil }
      let queue = PublishSubject<Element>()
      state.queue = queue
      return queue
    }
    if let fresh { hop.disposable = fresh.observeOn(scheduler).subscribe(observer) }
  }

  func next(_ element: Element) {
    if let queue = state.withLock({ $0.queue }) { queue.onNext(element) } else { observer.onNext(element) }
  }

  func end(_ error: (any Error)?) {
    let queue: PublishSubject<Element>?? = state.withLock { state in
      guard !state.ended else { return nil }
      state.ended = true
      return .some(state.queue)
    }
    guard let queue else { return }
    switch (queue, error) {
    case (let queue?, let error?): queue.onError(error)
    case (let queue?, nil): queue.onCompleted()
    case (nil, let error?): observer.onError(error)
    case (nil, nil): observer.onCompleted()
    }
  }
}
