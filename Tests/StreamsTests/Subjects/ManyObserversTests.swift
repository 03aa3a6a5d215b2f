import TestSupport
import XCTest

@testable import Streams

/// Subjects with many observers, which keep the places of those that have left.
final class ManyObserversTests: XCTestCase {
  func test_randomObserversOfALargeSubject_receiveWhatTheModelSays() {
    let subject = PublishSubject<Int>()
    var bags: [(id: Int, subscription: any Disposable)] = []
    let received = Box<[String]>([])
    var (lastID, element) = (0, 0)
    var random = randomNumbers()
    for round in 0..<400 {
      if round % 3 != 2 || bags.isEmpty {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          lastID += 1
          bags.append(
            (
              lastID,
              subject.subscribe(onNext: { [lastID] element in received.update { $0.append("\(lastID): \(element)") } })
            ))
        }
      } else {
        for _ in 0..<Int.random(in: 1...12, using: &random) where !bags.isEmpty {
          // The first ones as often as any.
          let place = Bool.random(using: &random) ? 0 : Int.random(in: bags.indices, using: &random)
          bags.remove(at: place).subscription.dispose()
        }
      }
      element += 1
      received.value = []
      subject.onNext(element)
      XCTAssertEqual(received.value, bags.map { "\($0.id): \(element)" }, "round \(round)")
    }
    for bag in bags { bag.subscription.dispose() }
    XCTAssertFalse(subject.hasObservers)
  }

  func test_placesOfObserversThatHaveLeft_areRemoved() {
    var roster = Roster<Int>()
    let ids = (0..<1000).compactMap { roster.join($0) }
    for (index, id) in ids.enumerated() {
      XCTAssertEqual(roster.leave(id), index)
      XCTAssertNil(roster.leave(id))
      XCTAssertLessThanOrEqual(roster.gaps * 2, roster.members.count + 1)
      XCTAssertEqual(roster.present.count, 999 - index)
    }
    XCTAssertTrue(roster.isEmpty)
    XCTAssertEqual(roster.end(nil).count, 0)
  }
}
