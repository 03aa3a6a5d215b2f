import Streams
import XCTest

final class SubjectRacesTests: StreamsTestCase {
  /// Returns one subject of each kind. The last two replay all elements, or the last one, before live ones.
  private static func subjects() -> [any SubjectType<Int>] {
    [PublishSubject<Int>(), ReplaySubject<Int>.createUnbounded(), BehaviorSubject(value: -1)]
  }

  func test_aDisposedObserverIsReleasedWithoutAnotherEvent() {
    for subject in Self.subjects() {
      var token: Token? = Token()
      weak var seen: Token?
      seen = token
      let subscription = subject.asObservable().subscribe(onNext: { [token] _ in _ = token })
      token = nil
      subject.onNext(1)
      XCTAssertNotNil(seen)
      subscription.dispose()
      XCTAssertNil(seen)
    }
  }

  func test_elementsSentDuringTheReleaseOfAnObserverAreDeliveredBeforeTheCallReturns() {
    final class Slow: Sendable {
      let entered = DispatchSemaphore(value: 0)
      let proceed = DispatchSemaphore(value: 0)
    }
    final class Captured: Sendable {
      let slow: Slow
      init(_ slow: Slow) { self.slow = slow }
      deinit {
        slow.entered.signal()
        slow.proceed.wait()
      }
    }
    for subject in Self.subjects() {
      let slow = Slow()
      let log = Log<Int>()
      let subscription = subject.asObservable().subscribe(onNext: { log.add($0) })
      // The closure of an operator is released with its roster entry, that of a subscriber only later.
      let leaver = subject.asObservable().map { [captured = Captured(slow)] element in
        withExtendedLifetime(captured) { element }
      }
      .subscribe()
      subject.onNext(1)
      DispatchQueue.global().async { leaver.dispose() }
      slow.entered.wait()
      subject.onNext(2)
      XCTAssertEqual(log.all.suffix(2), [1, 2])
      slow.proceed.signal()
      subscription.dispose()
    }
  }

  func test_anObserverDisposedDuringAnEventIsReleasedAfterIt() {
    for subject in Self.subjects() {
      var token: Token? = Token()
      weak var seen: Token?
      seen = token
      let leaver = SerialDisposable()
      let subscription = subject.asObservable().subscribe(onNext: { if $0 == 1 { leaver.dispose() } })
      leaver.disposable = subject.asObservable().subscribe(onNext: { [token] _ in _ = token })
      token = nil
      subject.onNext(0)
      XCTAssertNotNil(seen)
      subject.onNext(1)
      XCTAssertNil(seen)
      subscription.dispose()
    }
  }

  func test_law25_manyEmittersAndLateObserversCauseNoLossOrDuplicates() {
    let emitters = 3
    let observers = 40
    let perEmitter = 200
    for (kind, subject) in Self.subjects().enumerated() {
      let first = Referee<Int>()
      _ = first.watch(subject.asObservable())
      let late = (0..<observers).map { _ in Referee<Int>() }
      let finished = Log<Int>()
      onThreads(emitters + 4) { thread in
        if thread < emitters {
          for value in 0..<perEmitter { subject.onNext(thread * perEmitter + value) }
          finished.add(thread)
          if finished.count == emitters { subject.onCompleted() }
        } else {
          for index in stride(from: thread - emitters, to: observers, by: 4) {
            let subscription = late[index].watch(subject.asObservable())
            if index % 5 == 4 { subscription.dispose() }
          }
        }
      }
      let all = first.elements.all
      XCTAssertEqual(all.filter { $0 >= 0 }.sorted(), Array(0..<emitters * perEmitter), "kind \(kind)")
      for (index, referee) in ([first] + late).enumerated() {
        referee.check()
        let seen = referee.elements.all
        let left = index > 0 && index % 5 == 0
        XCTAssertEqual(referee.ends.all, left ? Array(referee.ends.all.prefix(1)) : ["completed"], "kind \(kind)")
        // A late observer receives a contiguous part of the first one's elements, up to the end unless it was disposed.
        switch (kind, left) {
        case (1, false): XCTAssertEqual(seen, all, "everything is replayed")
        case (_, false): XCTAssertEqual(seen, Array(all.suffix(seen.count)), "kind \(kind)")
        default: XCTAssertTrue(seen.isEmpty || isPart(seen, of: all), "kind \(kind)")
        }
      }
    }
  }

  private func isPart(_ part: [Int], of all: [Int]) -> Bool {
    guard let start = all.firstIndex(of: part[0]) else { return false }
    return all[start...].starts(with: part)
  }
}
