/// Something that takes the events of a stream.
public protocol ObserverType<Element>: Sendable {
  /// What it takes.
  associatedtype Element: Sendable

  /// Takes one event; may be called from any thread.
  func on(_ event: Event<Element>)
}

extension ObserverType {
  /// Takes the next element.
  @inlinable
  public func onNext(_ element: Element) { on(.next(element)) }

  /// Takes the error that ends the stream.
  @inlinable
  public func onError(_ error: any Error) { on(.error(error)) }

  /// Takes the good end of the stream.
  @inlinable
  public func onCompleted() { on(.completed) }

  /// This observer without its type.
  public func asObserver() -> AnyObserver<Element> { AnyObserver(self) }
}

/// An observer of any origin; what `Observable.create` gives its closure.
///
/// The methods of the one that `create` gives may be called from several threads at once and re-entrantly: events are
/// delivered one at a time, in the order of arrival, and nothing after the first terminal event (laws 1 to 3). One made
/// from a closure or from another observer passes every call on as it comes: what it wraps decides about order and end.
public struct AnyObserver<Element: Sendable>: ObserverType {
  // The common one: two fields and no enumeration, since to look into that would cost a reference count per event.
  @usableFromInline let emitter: Emitter<Element>?
  @usableFromInline let handler: (@Sendable (Event<Element>) -> Void)?

  @inlinable
  init(_ emitter: Emitter<Element>) {
    self.emitter = emitter
    handler = nil
  }

  /// An observer that passes every event to `eventHandler` as it comes, on the calling thread.
  ///
  /// Nothing is serialized and nothing is dropped after a terminal event; subscribing it to a stream ensures both, since
  /// the stream's events keep the laws.
  public init(eventHandler: @escaping @Sendable (Event<Element>) -> Void) {
    emitter = nil
    handler = eventHandler
  }

  /// An observer that hands every event to `observer`.
  public init(_ observer: some ObserverType<Element>) {
    self.init { observer.on($0) }
  }

  /// Takes one event.
  @inlinable
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): onNext(element)
    case .error(let error): onError(error)
    case .completed: onCompleted()
    }
  }

  /// Takes the next element.
  @inlinable
  public func onNext(_ element: Element) {
    if let emitter = emitter.map({ Unmanaged.passUnretained($0) }) {
      emitter._withUnsafeGuaranteedRef { $0.onNext(element) }
    } else {
      handler?(.next(element))
    }
  }

  /// Takes the error that ends the stream.
  @inlinable
  public func onError(_ error: any Error) {
    emitter?.finish(error)
    handler?(.error(error))
  }

  /// Takes the good end of the stream.
  @inlinable
  public func onCompleted() {
    emitter?.finish(nil)
    handler?(.completed)
  }
}
