extension Observable {
  /// Emits the elements of `sequence` in a plain loop on the subscribing thread, then completes (contract, law 23).
  ///
  /// An infinite sequence is allowed if an operator downstream, such as `take`, ends the subscription.
  ///
  ///     from([a, b, c]): (abc|)
  @inlinable
  public static func from<S: Sequence & Sendable>(_ sequence: S) -> Observable<Element> where S.Element == Element {
    Observable(push: { subscription, next in
      do {
        for element in sequence {
          if subscription.isStopped { return }
          try next(element)
        }
        subscription.complete()
      } catch {
        subscription.fail(error)
      }
    })
  }

  /// Emits the elements of `sequence`, each in a separate item on `scheduler`, then completes (contract, law 23).
  public static func from<S: Sequence & Sendable>(
    _ sequence: S, scheduler: any ImmediateSchedulerType
  ) -> Observable<Element> where S.Element == Element {
    Observable(push: { subscription, next in
      let turn = Turn()
      subscription.own(turn)
      let iterator = Cell(sequence.makeIterator())
      @Sendable func step() {
        guard !subscription.isStopped else { return }
        guard let element = iterator.value.next() else { return subscription.complete() }
        subscription.deliver(element, to: next)
        if !subscription.isStopped { turn.arm { scheduler.schedule { step() } } }
      }
      turn.arm { scheduler.schedule { step() } }
    })
  }

  /// Emits the value of `optional`, unless it is `nil`, and completes.
  @inlinable
  public static func from(optional: Element?) -> Observable<Element> {
    optional.map { .just($0) } ?? .empty()
  }

  /// Emits the value of `optional`, unless it is `nil`, and completes, on `scheduler`.
  public static func from(optional: Element?, scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    Observable.from(optional: optional).subscribeOn(scheduler)
  }
}
