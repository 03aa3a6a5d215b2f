import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// `LimitInterceptor(maxWait:)`.
final class LimitWaitTests: XCTestCase {
  private func limit(_ wait: Duration?, rate: LimitInterceptor.Rate? = nil) -> LimitInterceptor {
    LimitInterceptor(maxConcurrent: rate == nil ? 1 : nil, rate: rate, maxWait: wait)
  }

  func test_aCallThatCannotStartInTime_failsAtThatTime() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(limit(.milliseconds(500)))
    for index in 0..<3 { virtual.note("\(index) ", network.responses(.get, "/\(index)")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["1 unavailable @500", "2 unavailable @500", "0 200 ok @1000"])
    XCTAssertEqual(virtual.paths, ["/0"])
    virtual.note("3 ", network.responses(.get, "/3"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "3 200 ok @2000", "the places of calls that gave up are free")
  }

  func test_aCallThatStartsInTime_isNotEnded() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(limit(.milliseconds(1500)))
    for index in 0..<2 { virtual.note("\(index) ", network.responses(.get, "/\(index)")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["0 200 ok @1000", "1 200 ok @2000"])
  }

  func test_aPlaceThatBecomesFreeAtTheSameInstant_hasOneOutcome() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(limit(.seconds(1)))
    for index in 0..<2 { virtual.note("\(index) ", network.responses(.get, "/\(index)")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.count, 2)
    let wasSent = virtual.paths == ["/0", "/1"]
    XCTAssertEqual(virtual.notes.all.last, wasSent ? "1 200 ok @2000" : "0 200 ok @1000")
    virtual.note("2 ", network.responses(.get, "/2"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last?.hasPrefix("2 200 ok"), true)
  }

  func test_aCancelledCall_freesItsTimer_andTheError_namesTheRemedy() throws {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(9)))
    let network = virtual.network(limit(.seconds(5)))
    virtual.note("0 ", network.responses(.get, "/0"))
    virtual.note("1 ", network.responses(.get, "/1")).dispose()
    let errors = Box<NetworkError?>(nil)
    _ = network.responses(.get, "/2").subscribe(onError: { errors.value = .wrapping($0) })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["0 200 ok @9000"])
    let error = try XCTUnwrap(errors.value)
    XCTAssertEqual([error.kind, .unavailable], [.unavailable, error.kind])
    XCTAssertTrue(error.reason.contains("no place became free within 5.0 seconds"), error.reason)
    XCTAssertTrue(error.reason.contains("raise its limits or maxWait"), error.reason)
    XCTAssertNil(error.retryAfter, "it is unknown")
    XCTAssertEqual(error.request?.url.path, "/2")
  }

  func test_waitsForARate_areLimitedToo_andZeroNeverWaits() {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(limit(.milliseconds(700), rate: .init(1, per: .seconds(1))))
    for index in 0..<2 { virtual.note("\(index) ", network.responses(.get, "/\(index)")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["0 200 ok @0", "1 unavailable @700"])

    let strict = VirtualNetwork(.json("ok", after: .seconds(1)))
    let impatient = strict.network(limit(.zero))
    for index in 0..<2 { strict.note("\(index) ", impatient.responses(.get, "/\(index)")) }
    strict.scheduler.start()
    XCTAssertEqual(strict.notes.all, ["1 unavailable @0", "0 200 ok @1000"])
  }

  /// Places are neither lost nor given twice when calls start, end and leave on several threads.
  func test_threads_loseNoPlace() {
    let stub = StubTransport { _ in .json("ok", after: .milliseconds(2)) }
    let limit = LimitInterceptor(maxConcurrent: 2, maxWait: .milliseconds(3))
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: stub, mapping: ImmediateScheduler.instance, interceptors: [limit]))
    let (done, sent) = (expectation(description: "all calls have ended"), Counter())
    done.expectedFulfillmentCount = 400
    for _ in 0..<8 {
      Thread.detachNewThread {
        for _ in 0..<50 {
          _ = network.responses(.get, "/x").subscribe(
            onNext: { _ in sent.next() },
            onError: { error in
              XCTAssertEqual(NetworkError.wrapping(error).kind, .unavailable)
              done.fulfill()
            }, onCompleted: { done.fulfill() })
        }
      }
    }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(stub.requests.count, sent.value, "what gave up was not sent")
    let last = expectation(description: "a place is free")
    _ = network.responses(.get, "/x").subscribe(onCompleted: { last.fulfill() })
    wait(for: [last], timeout: 60)
  }
}
