extension ObservableType {
  /// Passes every event to all `observers`, until the stream terminates or the binding is disposed.
  public func bind<Observer: ObserverType>(
    to observers: Observer..., file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable where Observer.Element == Element {
    subscribe({ event in for observer in observers { observer.on(event) } }, file: file, line: line)
  }

  /// Passes every element to all `relays`.
  ///
  /// The relays continue when the stream terminates; an error goes to `Hooks.onUnhandledError` (contract, law 6).
  public func bind(
    to relays: PublishRelay<Element>..., file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onNext: { element in for relay in relays { relay.accept(element) } }, file: file, line: line)
  }

  /// Passes every element to all `relays`.
  ///
  /// The relays continue when the stream terminates; an error goes to `Hooks.onUnhandledError` (contract, law 6).
  public func bind(
    to relays: BehaviorRelay<Element>..., file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onNext: { element in for relay in relays { relay.accept(element) } }, file: file, line: line)
  }

  /// Passes every element to `onNext`; an error goes to `Hooks.onUnhandledError` (contract, law 6).
  public func bind(
    onNext: @escaping @Sendable (Element) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> any Disposable {
    subscribe(onNext: onNext, file: file, line: line)
  }
}
