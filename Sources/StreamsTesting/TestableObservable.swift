import Streams
import Synchronization

/// A source with a script, which notes when it was subscribed and disposed.
public final class TestableObservable<Element: Sendable>: ObservableType {
  private let scheduler: TestScheduler
  private let script: [Recorded<Event<Element>>]
  private let subject: PublishSubject<Element>?
  // Guards the subscriptions, noted by whichever thread subscribes or disposes.
  private let spans = Locked<[TestSubscription]>([])

  init(_ scheduler: TestScheduler, _ script: [Recorded<Event<Element>>], isHot: Bool) {
    self.scheduler = scheduler
    self.script = script
    subject = isHot ? PublishSubject() : nil
    if let subject {
      for event in script { scheduler.scheduleAt(event.time) { subject.on(event.value) } }
    }
  }

  /// When it was subscribed, and until when.
  public var subscriptions: [TestSubscription] { spans.withLock { $0 } }

  /// The source as a stream: hot ones run by the clock, cold ones from each subscription.
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
  /// A source that emits at the given absolute times, whoever listens.
  public func createHotObservable<Element>(_ events: [Recorded<Event<Element>>]) -> TestableObservable<Element> {
    TestableObservable(self, events, isHot: true)
  }

  /// A source that emits at the given times after each subscription.
  public func createColdObservable<Element>(_ events: [Recorded<Event<Element>>]) -> TestableObservable<Element> {
    TestableObservable(self, events, isHot: false)
  }
}
