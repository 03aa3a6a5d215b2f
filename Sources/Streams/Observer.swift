/// A type that receives the events of a stream.
public protocol ObserverType<Element>: Sendable {
  /// The type of the elements.
  associatedtype Element: Sendable

  /// Receives one event, on any thread.
  func on(_ event: Event<Element>)
}

extension ObserverType {
  /// Receives the next element.
  @inlinable
  public func onNext(_ element: Element) { on(.next(element)) }

  /// Receives the error that terminates the stream.
  @inlinable
  public func onError(_ error: any Error) { on(.error(error)) }

  /// Receives the completion of the stream.
  @inlinable
  public func onCompleted() { on(.completed) }
}

/// A type-erased observer, such as the one that `Observable.create` passes to its closure.
///
/// The observer of `create` accepts calls from several threads concurrently, and reentrant calls. It delivers events
/// one at a time, in order of arrival, and drops events after the first terminal event (contract, laws 1 to 3). An
/// observer created from a closure or from another observer forwards every call unchanged, without these guarantees.
public struct AnyObserver<Element: Sendable>: ObserverType {
  // The common case. Two fields instead of an enumeration, because matching an enumeration would cost a reference count
  // per event.
  @usableFromInline let emitter: Emitter<Element>?
  @usableFromInline let handler: (@Sendable (Event<Element>) -> Void)?

  @inlinable
  init(_ emitter: Emitter<Element>) {
    self.emitter = emitter
    handler = nil
  }

  /// Creates an observer that passes every event to `eventHandler`, on the calling thread.
  ///
  /// It neither serializes events nor drops events after a terminal event. A stream to which it is subscribed
  /// guarantees both.
  public init(eventHandler: @escaping @Sendable (Event<Element>) -> Void) {
    emitter = nil
    handler = eventHandler
  }

  /// Creates an observer that passes every event to `observer`.
  public init(_ observer: some ObserverType<Element>) {
    self.init { observer.on($0) }
  }

  /// Receives one event.
  @inlinable
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): onNext(element)
    case .error(let error): onError(error)
    case .completed: onCompleted()
    }
  }

  /// Receives the next element.
  @inlinable
  public func onNext(_ element: Element) {
    if let emitter = emitter.map({ Unmanaged.passUnretained($0) }) {
      emitter._withUnsafeGuaranteedRef { $0.onNext(element) }
    } else {
      handler?(.next(element))
    }
  }

  /// Receives the error that terminates the stream.
  @inlinable
  public func onError(_ error: any Error) {
    emitter?.finish(error)
    handler?(.error(error))
  }

  /// Receives the completion of the stream.
  @inlinable
  public func onCompleted() {
    emitter?.finish(nil)
    handler?(.completed)
  }
}
