extension ObservableType {
  /// Emits this stream, then `second`, which is subscribed when this one has completed.
  ///
  ///               -a--b-|
  ///     second    -c-|
  ///     concat    -a--b--c-|
  @inlinable
  public func concat<Second: ObservableConvertibleType>(_ second: Second) -> Observable<Element>
  where Second.Element == Element {
    .concat([asObservable(), second.asObservable()])
  }
}

extension Observable {
  /// Emits the streams one after the other, each subscribed when the one before has completed; an error ends all.
  @inlinable
  public static func concat(_ sources: Observable<Element>...) -> Observable<Element> { concat(sources) }

  /// Emits the streams one after the other, each subscribed when the one before has completed; an error ends all.
  ///
  /// The sequence may be lazy and without end: the next stream is asked for when it is needed.
  @inlinable
  public static func concat<S: Sequence & Sendable>(_ sources: S) -> Observable<Element>
  where S.Element == Observable<Element> {
    Observable(push: { subscription, next in
      let iterator = Cell(sources.makeIterator())
      let loop = SequenceLoop(subscription) { scope in
        guard let source = iterator.value.next() else { return false }
        source.run(scope) { subscription.deliver($0, to: next) }
        return true
      }
      loop.next()
    })
  }
}

/// Subscribes source after source, in a loop (laws 14 and 27).
@usableFromInline
final class SequenceLoop: Sendable {
  private let downstream: Subscription
  private let start: @Sendable (Subscription) -> Bool
  private let current = SerialDisposable()
  private let trampoline = Trampoline()

  @usableFromInline
  init(_ downstream: Subscription, start: @escaping @Sendable (Subscription) -> Bool) {
    self.downstream = downstream
    self.start = start
    downstream.own(current)
  }

  /// Runs `starts` one after the other.
  convenience init(_ downstream: Subscription, starts: [@Sendable (Subscription) -> Void]) {
    let left = Cell(starts[...])
    self.init(downstream) { scope in
      guard let start = left.value.popFirst() else { return false }
      start(scope)
      return true
    }
  }

  @usableFromInline
  func next() {
    trampoline.bounce {
      guard !downstream.isStopped else { return }
      let scope = HandlerScope { [self] error in
        if let error { downstream.fail(error) } else { next() }
      }
      current.disposable = scope
      if !start(scope) { downstream.complete() }
    }
  }
}
