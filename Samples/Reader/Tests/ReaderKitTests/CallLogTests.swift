import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import XCTest

@testable import ReaderKit

/// The recorder of the debug screen, in virtual time.
final class CallLogTests: XCTestCase {
  func test_rows_haveAttemptsPausesAndTheEnd_withoutSecrets() {
    let clock = TestScheduler(resolution: .milliseconds(1))
    let replies = StubTransport.StubbedResponse.sequence([.json("", status: 503), .json("7"), .json("", status: 404)])
    let stub = StubTransport(on: clock) { _ in replies }
    let log = CallLog()
    let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }))
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h/"), transport: stub, clock: clock, mapping: clock, interceptors: [log, retry]))
    for path in ["/a?token=s3cr3t", "/b"] {
      _ = network.request(.get(path), as: Int.self).subscribe(onSuccess: { _ in }, onError: { _ in })
      clock.start()
    }
    XCTAssertEqual(log.rows.map(\.name), ["GET http://h/a?token=***", "GET http://h/b"])
    XCTAssertEqual(log.rows.map(\.attempts), [2, 1])
    XCTAssertEqual(log.rows.map(\.pauses), [.milliseconds(500), .zero])
    XCTAssertEqual(log.rows.map(\.end), ["200", "failed"])
  }
}
