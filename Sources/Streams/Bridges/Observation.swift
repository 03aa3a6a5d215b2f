import Observation

extension Observable {
  /// Emits the result of `value` at each subscription, and again after a change of an `@Observable` property that it has
  /// read.
  ///
  /// ```swift
  /// Observable.observing { model.query }
  ///   .debounce(.milliseconds(300), scheduler: MainScheduler.instance)
  /// ```
  /// The elements are emitted on the main queue. Changes of one turn of the main queue are combined into one element, and
  /// an element may be equal to the previous one. The stream never terminates. Disposing ends the observation with the
  /// next change.
  public static func observing(_ value: @escaping @MainActor () -> Element) -> Observable<Element> {
    Observable.create { observer in
      let observation = Observation(observer, value)
      _ = MainScheduler.instance.schedule { MainActor.assumeIsolated { observation.read() } }
      return observation
    }
  }
}

/// An observation that is renewed after each change.
private final class Observation<Element: Sendable>: Disposable {
  private let observer: AnyObserver<Element>
  private let value: @MainActor () -> Element
  private let isOver = Flag()

  init(_ observer: AnyObserver<Element>, _ value: @escaping @MainActor () -> Element) {
    (self.observer, self.value) = (observer, value)
  }

  @MainActor
  func read() {
    guard !isOver.isRaised else { return }
    let element = withObservationTracking(value) { [weak self] in
      // Called before the change, on the thread that makes it.
      self?.readAfterwards()
    }
    observer.onNext(element)
  }

  private func readAfterwards() {
    // Does not run inline, because the property still has its previous value.
    _ = MainScheduler.instance.scheduleRelative(.zero) { [weak self] in
      MainActor.assumeIsolated { self?.read() }
    }
  }

  func dispose() { isOver.raise() }
}
