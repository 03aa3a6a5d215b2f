import Streams
import Synchronization

/// A source that emits scripted events and records its subscriptions.
public final class TestableObservable<Element: Sendable>: ObservableType {
  private let scheduler: TestScheduler
  private let script: [Recorded<Event<Element>>]
  private let subject: PublishSubject<Element>?
  // Guards the recorded subscriptions, which any thread may change.
  private let spans = Locked<[TestSubscription]>([])

  init(_ scheduler: TestScheduler, _ script: [Recorded<Event<Element>>], isHot: Bool) {
    self.scheduler = scheduler
    self.script = script
    subject = isHot ? PublishSubject() : nil
    if let subject {
      for event in script { scheduler.scheduleAt(event.time) { subject.on(event.value) } }
    }
  }

  /// The time spans of all subscriptions so far.
  public var subscriptions: [TestSubscription] { spans.withLock { $0 } }

  /// Returns the source as a stream; hot sources follow the clock, and cold sources start with each subscription.
  public func asObservable() -> Observable<Element> {
    Observable.create { [self] observer in
      let index = spans.withLock { spans in
        spans.append(TestSubscription(scheduler.clock))
        return spans.count - 1
      }
      let work = CompositeDisposable()
      if let subject {
        work.insert(subject.subscribe(observer))
      } else {
        let start = scheduler.clock
        for event in script {
          work.insert(scheduler.scheduleAt(start + event.time) { observer.on(event.value) })
        }
      }
      work.insert(
        Disposables.create { [self] in
          let end = scheduler.clock
          spans.withLock { $0[index] = TestSubscription($0[index].subscribe, end) }
        })
      return work
    }
  }
}

extension TestScheduler {
  /// Creates a source that emits at the given absolute times, regardless of subscriptions.
  public func createHotObservable<Element>(_ events: [Recorded<Event<Element>>]) -> TestableObservable<Element> {
    TestableObservable(self, events, isHot: true)
  }

  /// Creates a source that emits at the given times after each subscription.
  public func createColdObservable<Element>(_ events: [Recorded<Event<Element>>]) -> TestableObservable<Element> {
    TestableObservable(self, events, isHot: false)
  }
}
