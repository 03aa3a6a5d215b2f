import XCTest

@testable import Streams

final class SubjectQueueTests: StreamsTestCase {
  private final class Reader {}

  func test_buffer_keepsTheLastElements_onceTheyAreSent() {
    var queue = SubjectQueue<Int>([0], capacity: 2)
    for number in 1...4 {
      _ = queue.append(number)
      XCTAssertEqual(queue.takeNext()?.number, number + 1)
    }
    XCTAssertEqual(queue.stored, [3, 4])
    XCTAssertEqual(queue.elements.count, 2)
    XCTAssertNil(queue.takeNext())
  }

  func test_elementsThatAreNotSent_areKept() {
    var queue = SubjectQueue<Int>([], capacity: 1)
    for number in 1...3 { XCTAssertNil(queue.append(number)) }
    XCTAssertEqual(queue.stored, [3])
    XCTAssertEqual(queue.trim(), [])
    var sent: [Int] = []
    var dropped: [Int] = []
    while let next = queue.takeNext() {
      sent.append(next.element)
      if let element = next.dropped { dropped.append(element) }
    }
    XCTAssertEqual(sent, [1, 2, 3])
    XCTAssertEqual(dropped, [1, 2])
  }

  func test_withoutABuffer_nothingIsKeptOnceItIsSent() {
    var queue = SubjectQueue<Int>([], capacity: 0)
    for number in 1...2 { XCTAssertNil(queue.append(number)) }
    XCTAssertEqual(queue.takeNext()?.dropped, 1)
    XCTAssertEqual(queue.takeNext()?.dropped, 2)
    XCTAssertTrue(queue.elements.isEmpty)
  }

  func test_readers_receiveTheBufferAndThenEachElementOnce() {
    let (slow, fast) = (Reader(), Reader())
    var queue = SubjectQueue<Int>([1], capacity: 1)
    XCTAssertEqual(queue.read(ObjectIdentifier(slow)), [1])
    for number in 2...4 {
      _ = queue.append(number)
      _ = queue.takeNext()
    }
    XCTAssertEqual(queue.read(ObjectIdentifier(fast)), [4])
    XCTAssertEqual(queue.leave(ObjectIdentifier(fast)), [])
    XCTAssertEqual(queue.read(ObjectIdentifier(slow)), [2, 3, 4])
    XCTAssertEqual(queue.read(ObjectIdentifier(slow)), [])
    XCTAssertEqual(queue.leave(ObjectIdentifier(slow)), [2, 3])
    XCTAssertEqual(queue.append(5), 4)
    XCTAssertEqual(queue.elements.count, 1)
  }
}
