import Races
import Streams
import StreamsTesting
import XCTest

/// Law 2 under load: eight threads send to every serialized entry point, while another disposes.
final class ThreadsTests: StreamsTestCase {
  /// A stream fed by eight threads, each of which sends `perThread` elements.
  private struct Pipeline {
    let name: String
    /// The number of elements that must be emitted, if that is certain.
    let expected: Int?
    let make: () -> (stream: Observable<Int>, send: @Sendable (_ thread: Int, _ value: Int) -> Void, end: () -> Void)
  }

  private static let perThread = 25

  private static func pipelines() -> [Pipeline] {
    let all = 8 * perThread
    func over(
      _ name: String, _ expected: Int?, _ build: @escaping ([PublishSubject<Int>]) -> Observable<Int>
    ) -> Pipeline {
      Pipeline(name: name, expected: expected) {
        let subjects = (0..<8).map { _ in PublishSubject<Int>() }
        return (
          build(subjects), { thread, value in subjects[thread].onNext(value) },
          { for subject in subjects { subject.onCompleted() } }
        )
      }
    }
    func single(_ name: String, _ expected: Int?, _ subject: @escaping () -> any SubjectType<Int>) -> Pipeline {
      Pipeline(name: name, expected: expected) {
        let subject = subject()
        return (subject.asObservable(), { _, value in subject.on(.next(value)) }, { subject.on(.completed) })
      }
    }
    let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    return [
      Pipeline(name: "create", expected: all) {
        let observers = Locked<AnyObserver<Int>?>(nil)
        let stream = Observable<Int>.create { observer in
          observers.withLock { $0 = observer }
          return Disposables.create()
        }
        return (
          stream, { _, value in observers.withLock { $0 }?.onNext(value) },
          { observers.withLock { $0.take() }?.onCompleted() }
        )
      },
      single("PublishSubject", all) { PublishSubject<Int>() },
      single("BehaviorSubject", all + 1) { BehaviorSubject(value: 0) },
      single("ReplaySubject", all) { ReplaySubject<Int>.createUnbounded() },
      over("merge", all) { Observable.merge($0.map { $0.asObservable() }) },
      over("flatMap", all) { Observable.from($0).flatMap { $0 } },
      over("merge(maxConcurrent:)", all) { Observable.from($0).map { $0.asObservable() }.merge(maxConcurrent: 8) },
      over("zip of eight", perThread) { Observable.zip($0).map(\.count) },
      over("zip of two", perThread) { .zip($0[0], $0[1]) { $0 + $1 } },
      over("zip of three", perThread) { Observable.zip($0[0], $0[1], $0[2]).map { $0.0 } },
      over("combineLatest", nil) { Observable.combineLatest($0).map(\.count) },
      over("combineLatest of two", nil) { .combineLatest($0[0], $0[1]) { $0 + $1 } },
      over("withLatestFrom", nil) { $0[0].withLatestFrom($0[1]) { first, _ in first } },
      over("takeUntil", perThread) { $0[0].takeUntil(Observable<Int>.never()) },
      over("share", all) { Observable.merge($0.map { $0.asObservable() }).share() },
      over("publish.refCount", all) { Observable.merge($0.map { $0.asObservable() }).publish().refCount() },
      over("observeOn", all) { Observable.merge($0.map { $0.asObservable() }).observeOn(scheduler) },
      over("serialize", all) { Observable.merge($0.map { $0.asObservable() }).serialize() },
    ]
  }

  func test_law02_eventsOfEightThreadsNeitherGetLostNorOverlap() {
    for pipeline in Self.pipelines() {
      for _ in 0..<(15 * roundFactor) {
        let (stream, send, end) = pipeline.make()
        let referee = Referee<Int>()
        let subscription = referee.watch(stream)
        onThreads(8) { thread in
          for value in 0..<Self.perThread { send(thread, value) }
        }
        end()
        waitUntil("\(pipeline.name) has ended") { referee.ends.count == 1 }
        referee.check()
        XCTAssertEqual(referee.ends.all, ["completed"], pipeline.name)
        if let expected = pipeline.expected { XCTAssertEqual(referee.elements.count, expected, pipeline.name) }
        subscription.dispose()
      }
    }
  }

  func test_law04_disposeRacingWithEightThreadsStopsEverything() {
    for pipeline in Self.pipelines() {
      for _ in 0..<(15 * roundFactor) {
        let (stream, send, end) = pipeline.make()
        let referee = Referee<Int>()
        let subscription = referee.watch(stream)
        onThreads(9) { thread in
          if thread == 8 { return subscription.dispose() }
          for value in 0..<Self.perThread { send(thread, value) }
        }
        let count = referee.elements.count
        send(0, 1)
        end()
        referee.check()
        // One event may have been in delivery on the thread of an `observeOn`.
        XCTAssertLessThanOrEqual(referee.elements.count, count + 1, "\(pipeline.name) went on after it was disposed")
        XCTAssertEqual(referee.ends.all, [], pipeline.name)
      }
    }
  }
}
