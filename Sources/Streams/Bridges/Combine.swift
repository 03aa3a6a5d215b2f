#if canImport(Darwin)
  import Combine

  extension ObservableType {
    /// The stream as a Combine publisher.
    ///
    /// Each subscriber subscribes to the source, and cancelling disposes the subscription. Elements that exceed the
    /// subscriber's demand are buffered without a limit.
    public var publisher: AnyPublisher<Element, any Error> {
      ObservablePublisher(source: asObservable())
        .buffer(size: .max, prefetch: .keepFull, whenFull: .dropNewest)
        .eraseToAnyPublisher()
    }
  }

  extension Publisher where Self: Sendable, Output: Sendable {
    /// Returns the publisher as a stream. Each subscription subscribes to the publisher; disposing it cancels that.
    public func asObservable() -> Observable<Output> {
      Observable.create { observer in
        let cancellable = sink(
          receiveCompletion: { completion in
            switch completion {
            case .finished: observer.onCompleted()
            case .failure(let error): observer.onError(error)
            }
          }, receiveValue: { observer.onNext($0) })
        return CancellableDisposable(cancellable)
      }
    }
  }

  /// A disposable that cancels a Combine subscription.
  private final class CancellableDisposable: Disposable, @unchecked Sendable {
    // Safe: an AnyCancellable may be cancelled from any thread.
    private let cancellable: AnyCancellable

    init(_ cancellable: AnyCancellable) { self.cancellable = cancellable }

    func dispose() { cancellable.cancel() }
  }

  /// A publisher that subscribes to the source for each subscriber. It ignores demand, which the buffer downstream
  /// respects.
  private struct ObservablePublisher<Output: Sendable>: Publisher {
    typealias Failure = any Error

    let source: Observable<Output>

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let push = Push(subscriber)
      subscriber.receive(subscription: push)
      push.start(source)
    }
  }

  private final class Push<S: Subscriber>: Combine.Subscription, @unchecked Sendable
  where S.Input: Sendable, S.Failure == any Error {
    // Safe: the events of the stream are serial, and only they call the subscriber.
    private let subscriber: S
    private let disposable = SingleAssignmentDisposable()

    init(_ subscriber: S) { self.subscriber = subscriber }

    func start(_ source: Observable<S.Input>) {
      disposable.setDisposable(
        source.subscribe(
          onNext: { [self] in _ = subscriber.receive($0) },
          onError: { [self] in subscriber.receive(completion: .failure($0)) },
          onCompleted: { [self] in subscriber.receive(completion: .finished) }))
    }

    func request(_ demand: Subscribers.Demand) {}

    func cancel() { disposable.dispose() }
  }
#endif
