import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class LeastRecentlyUsedTests: XCTestCase {
  func test_leastRecentlyUsed_isEvictedFirst() {
    var cache = LeastRecentlyUsed<String, Int>(limit: 3)
    for (index, key) in ["a", "b", "c"].enumerated() { XCTAssertTrue(cache.insert(index, for: key, cost: 1).isEmpty) }
    XCTAssertEqual(cache.value(for: "a"), 0)
    XCTAssertEqual(cache.insert(3, for: "d", cost: 1).map(\.key), ["b"])
    XCTAssertEqual(Set(cache.keys), ["a", "c", "d"])
    XCTAssertEqual(cache.insert(4, for: "e", cost: 2).map(\.key), ["c", "a"])
  }

  func test_totalCost_isAtMostTheLimit() {
    var cache = LeastRecentlyUsed<Int, Int>(limit: 100)
    var generator = randomNumbers()
    var model: [(key: Int, cost: Int)] = []
    for _ in 0..<5000 {
      let key = Int.random(in: 0..<30, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        XCTAssertEqual(cache.remove(key) != nil, model.contains { $0.key == key })
        model.removeAll { $0.key == key }
      case 1:
        XCTAssertEqual(cache.value(for: key), model.first { $0.key == key }?.key)
        if let place = model.firstIndex(where: { $0.key == key }) { model.append(model.remove(at: place)) }
      default:
        let cost = Int.random(in: 0...40, using: &generator)
        let gone = cache.insert(key, for: key, cost: cost).map(\.key)
        model.removeAll { $0.key == key }
        model.append((key, cost))
        var expected: [Int] = []
        while model.reduce(0, { $0 + $1.cost }) > 100 { expected.append(model.removeFirst().key) }
        XCTAssertEqual(gone, expected)
      }
      XCTAssertEqual(cache.cost, model.reduce(0) { $0 + $1.cost })
      XCTAssertEqual(Set(cache.keys), Set(model.map(\.key)))
    }
  }

  func test_valueAboveTheLimit_isNotStored_andRemovesItsPredecessor() {
    var cache = LeastRecentlyUsed<String, Int>(limit: 3)
    _ = cache.insert(1, for: "a", cost: 1)
    _ = cache.insert(2, for: "b", cost: 1)
    XCTAssertEqual(cache.insert(3, for: "a", cost: 4).map(\.value), [3])
    XCTAssertEqual(cache.keys, ["b"])
    XCTAssertEqual(cache.cost, 1)
  }

  func test_placesOfEvictedValues_areUsedAgain() throws {
    var cache = LeastRecentlyUsed<Int, (Int, Int, Int, Int)>(limit: 3)
    let growth = residentGrowth {
      for key in 0..<300_000 { _ = cache.insert((key, 0, 0, 0), for: key, cost: 1) }
    }
    guard let growth else { throw XCTSkip("the memory in use is unknown here") }
    XCTAssertEqual(cache.count, 3)
    XCTAssertLessThan(growth, 8 << 20, "of 20 MB")
  }
}
