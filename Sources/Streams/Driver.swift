/// A stream for user interfaces, as in RxCocoa: it never fails, emits on the main queue, and shares one subscription among
/// its observers, each of which gets the last element first. The first observer after its end, or after all have left,
/// starts the source anew.
///
///     let results = query.flatMapLatest { search($0) }.asDriver(onErrorJustReturn: [])
///     results.drive(onNext: { label.text = "\($0.count)" }).disposed(by: bag)
///
/// The closures of its operators are `@MainActor`. Each operator shares as `share(replay: 1)` does, so that closures run
/// once for each element, however many observers there are. For operators that a driver lacks, use those of `Observable`
/// before `asDriver(onErrorJustReturn:)`.
public struct Driver<Element: Sendable>: ObservableConvertibleType {
  // Never fails; emits on the main queue if it is subscribed there.
  let shared: Observable<Element>

  /// Shares `source`, which must not fail and must emit on the main queue if it is subscribed there.
  init(trusted source: Observable<Element>) { shared = source.share(replay: 1) }

  /// Returns the same stream for subscribers on any thread; it emits on the main queue.
  public func asObservable() -> Observable<Element> { shared.subscribeOn(MainScheduler.instance) }

  /// Emits `element` and completes.
  public static func just(_ element: Element) -> Driver<Element> { Driver(trusted: .just(element)) }

  /// Completes without an element.
  public static func empty() -> Driver<Element> { Driver(trusted: .empty()) }

  /// Never emits and never ends.
  public static func never() -> Driver<Element> { Driver(trusted: .never()) }
}

extension Driver {
  /// Handles the elements on the main actor.
  ///
  /// - Returns: the subscription; `dispose()` it to stop, or add it to a bag with `disposed(by:)`.
  @MainActor
  public func drive(
    onNext: (@MainActor (Element) -> Void)? = nil, onCompleted: (@MainActor () -> Void)? = nil
  ) -> any Disposable {
    shared.subscribe(
      onNext: { element in MainActor.assumeIsolated { onNext?(element) } },
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } })
  }

  /// Passes every event to `observer`, on the main actor.
  @MainActor
  public func drive(_ observer: some ObserverType<Element>) -> any Disposable { shared.subscribe(observer) }

  /// Passes every element to `relay`, on the main actor; the relay does not end with the driver.
  @MainActor
  public func drive(_ relay: BehaviorRelay<Element>) -> any Disposable { shared.bind(to: relay) }

  /// Passes every element to `relay`, on the main actor; the relay does not end with the driver.
  @MainActor
  public func drive(_ relay: PublishRelay<Element>) -> any Disposable { shared.bind(to: relay) }
}
