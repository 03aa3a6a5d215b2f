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

  /// Emits the value of `optional`, unless it is `nil`, and completes.
  @inlinable
  public static func from(optional: Element?) -> Observable<Element> {
    optional.map { .just($0) } ?? .empty()
  }
}
