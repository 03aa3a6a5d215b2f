import Foundation
import NetLayerOffline
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A secret that the backend names does not appear in what an outbox reports.
final class OutboxRedactionTests: XCTestCase {
  func test_secretThatTheBackendNames_isHiddenInTheReportsOfAnOutbox() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let reports = Notes()
    let stub = StubTransport { _ in .json(#"{"customer":"lovelace"}"#, status: 422) }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: stub, onError: { reports.add("\($0)") },
        redaction: .standard.hiding(["customer"])))
    let outbox = try Outbox(storingIn: folder, on: network, reachability: TestReachability()) { problem in
      reports.add("\(problem)")
    }
    let results = ReplaySubject<Outbox.Outcome>.create(bufferSize: 1)
    let subscription = outbox.results.subscribe(results)
    defer { subscription.dispose() }
    outbox.start()
    let call = Call<Response>.post("/x", json: ["customer": "lovelace"]).query(["customer": "lovelace"])
      .header("Customer", "lovelace")
    try outbox.send(call)
    let outcome = try await results.first().value
    guard case .failure(let error)? = outcome?.result else { return XCTFail("the entry must be parked") }
    reports.add("\(error) \(error.failureReason ?? "")")
    // The same key with another body is an error of `send`.
    let first = call.header("Idempotency-Key", "k")
    try outbox.send(first)
    XCTAssertThrowsError(try outbox.send(first.query(["page": 2]))) { reports.add("\($0)") }
    XCTAssertGreaterThanOrEqual(reports.all.count, 3)
    for report in reports.all { XCTAssertFalse(report.contains("lovelace"), report) }
  }
}
