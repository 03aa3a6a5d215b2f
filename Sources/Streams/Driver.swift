/// A stream for user interfaces that never fails, emits on the main queue and shares one subscription, as in RxCocoa.
///
/// Each new observer receives the latest element first. After the stream has terminated, or all observers have been
/// disposed, the next observer subscribes to the source again.
///
///     let results = query.flatMapLatest { search($0) }.asDriver(onErrorJustReturn: [])
///     results.drive(onNext: { label.text = "\($0.count)" }).disposed(by: bag)
///
/// The closures of its operators are `@MainActor`. Each operator shares its results as `share(replay: 1)` does, so a
/// closure runs once per element regardless of the number of observers. To use operators that `Driver` lacks, apply
/// them before `asDriver(onErrorJustReturn:)`.
public struct Driver<Element: Sendable>: ObservableConvertibleType {
  // Never fails; emits on the main queue if it is subscribed there.
  let shared: Observable<Element>

  /// Shares `source`, which must not fail, and must emit on the main queue if it is subscribed there.
  init(trusted source: Observable<Element>) { shared = source.share(replay: 1) }

  /// Returns the same stream for subscribers on any thread; it emits on the main queue.
  public func asObservable() -> Observable<Element> { shared.subscribeOn(MainScheduler.instance) }

  /// Returns a driver that emits `element` and completes.
  public static func just(_ element: Element) -> Driver<Element> { Driver(trusted: .just(element)) }

  /// Returns a driver that completes without emitting an element.
  public static func empty() -> Driver<Element> { Driver(trusted: .empty()) }

  /// Returns a driver that never emits and never terminates.
  public static func never() -> Driver<Element> { Driver(trusted: .never()) }
}

extension Driver {
  /// Subscribes closures that run on the main actor.
  ///
  /// - Returns: The subscription. Call `dispose()` to stop, or add it to a bag with `disposed(by:)`.
  @MainActor
  public func drive(
    onNext: (@MainActor (Element) -> Void)? = nil, onCompleted: (@MainActor () -> Void)? = nil
  ) -> any Disposable {
    shared.subscribe(
      onNext: { element in MainActor.assumeIsolated { onNext?(element) } },
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } })
  }

  /// Subscribes closures that run on the main actor and receive `object`, which is held weakly.
  ///
  /// When `object` has been deallocated, events are dropped.
  @MainActor
  public func drive<Object: AnyObject & Sendable>(
    with object: Object, onNext: (@MainActor (Object, Element) -> Void)? = nil,
    onCompleted: (@MainActor (Object) -> Void)? = nil
  ) -> any Disposable {
    drive(
      onNext: { [weak object] element in if let object { onNext?(object, element) } },
      onCompleted: { [weak object] in if let object { onCompleted?(object) } })
  }

  /// Passes every event to `observer` on the main actor.
  @MainActor
  public func drive(_ observer: some ObserverType<Element>) -> any Disposable { shared.subscribe(observer) }

  /// Passes every element to `relay` on the main actor; the relay continues when the driver completes.
  @MainActor
  public func drive(_ relay: BehaviorRelay<Element>) -> any Disposable { shared.bind(to: relay) }

  /// Passes every element to `relay` on the main actor; the relay continues when the driver completes.
  @MainActor
  public func drive(_ relay: PublishRelay<Element>) -> any Disposable { shared.bind(to: relay) }
}
