import Streams
import TestSupport
import XCTest

final class HeapTests: XCTestCase {
  func test_randomElements_leaveInOrder() {
    var generator = randomNumbers()
    for count in 0..<50 {
      var heap = Heap((0..<count).map { _ in Int.random(in: 0..<20, using: &generator) })
      var model: [Int] = []
      while let element = heap.removeFirst() { model.append(element) }
      XCTAssertEqual(model, model.sorted())
      XCTAssertEqual(model.count, count)
      var present: [Int] = []
      for _ in 0..<200 {
        if Bool.random(using: &generator) {
          let element = Int.random(in: 0..<20, using: &generator)
          heap.insert(element)
          present.append(element)
        } else {
          let smallest = present.min()
          XCTAssertEqual(heap.removeFirst(), smallest)
          if let smallest, let place = present.firstIndex(of: smallest) { present.remove(at: place) }
        }
        XCTAssertEqual(heap.first, present.min())
      }
    }
  }

  func test_sortedArrays_stayInOrder() {
    var sorted: [Int] = []
    var random = randomNumbers()
    for element in (0..<100).shuffled(using: &random) { sorted.insertInOrder(element) }
    XCTAssertEqual(sorted, Array(0..<100))
    for element in [0, 99, 50, 200] { sorted.removeInOrder(element) }
    XCTAssertEqual(sorted, (1..<99).filter { $0 != 50 })
  }

  func test_elementsWithKeys_areFoundInAnyOrderOfInsertion() {
    var pairs: [(key: Int, text: String)] = []
    var random = randomNumbers()
    for key in (0..<100).shuffled(using: &random) { pairs.insertInOrder((key, "\(key)")) { $0.key } }
    XCTAssertEqual(pairs.map(\.key), Array(0..<100))
    XCTAssertEqual(pairs.removeInOrder(42) { $0.key }?.text, "42")
    XCTAssertNil(pairs.removeInOrder(42) { $0.key })
    XCTAssertNil(pairs.removeInOrder(1000) { $0.key })
    XCTAssertEqual(pairs.count, 99)
  }
}
