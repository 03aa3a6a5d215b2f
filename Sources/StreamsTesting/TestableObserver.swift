import Streams
import Synchronization

/// An observer that records every event with its virtual time.
public final class TestableObserver<Element: Sendable>: ObserverType {
  private let scheduler: TestScheduler
  // Guards the events, which any thread may add.
  private let recorded = Locked<[Recorded<Event<Element>>]>([])

  init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

  /// The events recorded so far.
  public var events: [Recorded<Event<Element>>] { recorded.withLock { $0 } }

  /// The elements recorded so far.
  public var elements: [Element] { events.compactMap { $0.value.element } }

  /// Records one event.
  public func on(_ event: Event<Element>) {
    let time = scheduler.clock
    recorded.withLock { $0.append(Recorded(time: time, value: event)) }
  }
}

extension TestScheduler {
  /// Creates an observer that records every event with its virtual time.
  public func createObserver<Element: Sendable>(_ type: Element.Type = Element.self) -> TestableObserver<Element> {
    TestableObserver(self)
  }
}
