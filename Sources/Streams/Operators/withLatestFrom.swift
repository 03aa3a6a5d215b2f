extension ObservableType {
  /// Emits what `resultSelector` makes of each element and the latest of `second`; nothing before that has emitted.
  ///
  /// The source ends the stream, and `second` is disposed with it (law 16); an error of either is the stream's.
  ///
  ///     source:         -a----b-c-|
  ///     second:         ---1---2
  ///     withLatestFrom: ------A-B-|    A = (b, 1), B = (c, 2)
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType, Result: Sendable>(
    _ second: Second, resultSelector: @escaping @Sendable (Element, Second.Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    let other = second.asObservable()
    return Observable<Result>(push: { subscription, next in
      let latest = LatestBox<Second.Element>()
      let gate = Emitter<Result>(subscription, next)
      let otherScope = HandlerScope(subscription) { error in
        if let error { gate.finish(error) }
      }
      other.run(otherScope) { latest.set($0) }
      let sourceScope = HandlerScope(subscription) { gate.finish($0) }
      source.run(sourceScope) { element in
        guard let second = latest.get() else { return }
        do { gate.onNext(try resultSelector(element, second)) } catch { gate.finish(error) }
      }
    })
  }

  /// Emits the latest element of `second` for each element of this; nothing before that has emitted.
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Second.Element> {
    withLatestFrom(second) { $1 }
  }
}

/// The latest element of a stream, set by one thread and read by another.
@usableFromInline
final class LatestBox<Element: Sendable>: Sendable {
  // Guards the element, which is released outside.
  private let latest = Locked<Element?>(nil)

  @usableFromInline init() {}

  @usableFromInline
  func set(_ element: Element) {
    // The former one is released outside the lock.
    let former = latest.withLock { latest in
      let former = latest
      latest = element
      return former
    }
    withExtendedLifetime(former) {}
  }

  @usableFromInline
  func get() -> Element? { latest.withLock { $0 } }
}
