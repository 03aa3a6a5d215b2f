// Excluded together with the transport by the trait URLSession (docs/deployment.md).
#if HAS_URLSESSION
  import Foundation
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  final class SessionMetricsTests: XCTestCase {
    private let known = TransferMetrics(total: .seconds(9), bytesSent: 7, bytesReceived: 1000, redirects: 2)

    private func date(_ milliseconds: Double) -> Date {
      Date(timeIntervalSinceReferenceDate: 1e8 + milliseconds / 1000)
    }

    private var secure: SessionMetrics {
      SessionMetrics(
        fetchStart: date(0), lookupStart: date(5), lookupEnd: date(15), connectStart: date(15), connectEnd: date(65),
        tlsStart: date(35), tlsEnd: date(64), requestStart: date(66), requestEnd: date(73), responseStart: date(100),
        protocolName: "h2", address: "192.0.2.1", port: 443, bytesReceived: 300)
    }

    /// Durations in milliseconds, because dates are not exact.
    private func milliseconds(_ metrics: TransferMetrics) -> [Double?] {
      [metrics.queued, metrics.nameLookup, metrics.connect, metrics.tls, metrics.send, metrics.firstByte].map {
        $0.map { ($0 / .milliseconds(1)).rounded() }
      }
    }

    func test_aNewSecureConnectionHasAllPhases() {
      let metrics = secure.metrics(after: .milliseconds(20), adding: known)
      XCTAssertEqual(milliseconds(metrics), [5, 10, 20, 29, 7, 120])
      XCTAssertEqual(metrics.total, .seconds(9))
      XCTAssertEqual([metrics.bytesSent, metrics.bytesReceived], [7, 300])
      XCTAssertEqual(metrics.redirects, 2)
      XCTAssertEqual(metrics.isReused, false)
      XCTAssertEqual(metrics.httpVersion, "2")
      XCTAssertEqual(metrics.remoteAddress, "192.0.2.1:443")
    }

    func test_aConnectionWithoutTLSToAnAddressHasNoLookupAndNoHandshake() {
      var facts = secure
      (facts.tlsStart, facts.tlsEnd, facts.lookupStart, facts.lookupEnd) = (nil, nil, nil, nil)
      XCTAssertEqual(milliseconds(facts.metrics(after: .zero, adding: known)), [15, 0, 50, 0, 7, 100])
    }

    func test_aReusedConnectionHasNoPhasesOfItsOwn() {
      let facts = SessionMetrics(
        fetchStart: date(0), requestStart: date(3), responseStart: date(8), isReused: true, protocolName: "http/1.1",
        address: "2001:db8::1", port: 8080)
      let metrics = facts.metrics(after: .zero, adding: known)
      XCTAssertEqual(milliseconds(metrics), [3, 0, 0, 0, nil, 8])
      XCTAssertEqual(metrics.isReused, true)
      XCTAssertEqual(metrics.httpVersion, "1.1")
      XCTAssertEqual(metrics.remoteAddress, "[2001:db8::1]:8080")
      XCTAssertEqual(metrics.bytesReceived, 1000)
    }

    func test_whatTheSessionDoesNotStateIsNil() {
      let metrics = SessionMetrics().metrics(after: .zero, adding: known)
      XCTAssertEqual(milliseconds(metrics), [nil, nil, nil, nil, nil, nil])
      XCTAssertNil(metrics.isReused)
      XCTAssertNil(metrics.httpVersion)
      XCTAssertNil(metrics.remoteAddress)
      // The handshake failed: its end is unknown.
      let failed = SessionMetrics(fetchStart: date(0), connectStart: date(1), tlsStart: date(3))
      XCTAssertEqual(milliseconds(failed.metrics(after: .zero, adding: known)), [1, 0, 2, nil, nil, nil])
    }

    // The dates are those of the system's clock, which may be set back.
    func test_aPhaseThatEndsBeforeItsStartIsNil() {
      var facts = secure
      facts.responseStart = date(-50)
      facts.lookupEnd = date(-1)
      XCTAssertEqual(milliseconds(facts.metrics(after: .zero, adding: known)), [5, nil, 20, 29, 7, nil])
      facts.responseStart = .distantFuture
      XCTAssertNotNil(facts.metrics(after: .zero, adding: known).firstByte)
    }

    func test_everyProtocolHasTheNameOfItsVersion() {
      for (name, version) in [
        ("http/1.0", "1.0"), ("http/1.1", "1.1"), ("h2", "2"), ("h3", "3"), ("H2", "2"), ("spdy/3", nil),
      ] {
        let facts = SessionMetrics(protocolName: name)
        XCTAssertEqual(facts.metrics(after: .zero, adding: known).httpVersion, version, name)
      }
    }

    func test_theSizeOfABodyIsUnknownUnlessTheSessionStatesIt() throws {
      for (stated, size) in [(-1, nil), (0, nil), (10, 10)] as [(Int64, Int64?)] {
        let reports = Box<[TransferProgress]>([])
        let request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h/")))
        let transfer = SessionTransfer(
          request, core: URLSessionTransport().core, progress: { report in reports.update { $0.append(report) } }
        ) { _ in }
        transfer.noteSent(5, of: stated)
        XCTAssertEqual(reports.value.map(\.sent), [5])
        XCTAssertEqual(reports.value.map(\.sendTotal), [size])
      }
    }
  }
#endif
