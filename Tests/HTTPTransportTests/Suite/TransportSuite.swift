import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import Synchronization
import TestSupport
import XCTest

/// The requirements for every transport, tested against the loopback server. This class tests the default transport;
/// subclasses test others and list what their platform does not support in `gaps`.
class TransportSuite: XCTestCase {
  typealias Outcome = Result<NetLayer.Response, NetworkError>

  private(set) var server: TestServer!
  private(set) var transport: (any Transport)!

  func makeTransport() throws -> any Transport { DefaultTransport.make() }

  /// Creates a transport for a server whose certificate no CA of the machine has signed.
  func makeTLSTransport() throws -> any Transport { try makeTrustingTransport() }

  func shutDown(_ transport: any Transport) {
    #if canImport(CLibcurl)
      (transport as? CurlTransport)?.shutdown()
    #endif
    #if HAS_URLSESSION
      (transport as? URLSessionTransport)?.shutdown()
    #endif
  }

  /// The tests that cannot pass on this platform, with the reasons.
  var gaps: [String: String] { [:] }

  override func setUpWithError() throws {
    let test = name.split(separator: ".").last.map(String.init) ?? name
    if let reason = gaps[test.trimmingCharacters(in: CharacterSet(charactersIn: "]"))] {
      throw XCTSkip("known gap: \(reason)")
    }
    server = try TestServer(routes: TestRoutes.make())
    transport = try makeTransport()
  }

  override func tearDown() {
    transport = nil
    server?.stop()
    server = nil
  }

  // MARK: Sending

  func request(
    _ method: HTTPMethod = .get, _ path: String, headers: HTTPHeaders = [:], body: Request.Body = .none,
    timeouts: Request.Timeouts = Request.Timeouts()
  ) -> NetLayer.Request {
    Request(method: method, url: server.url(path), headers: headers, body: body, timeouts: timeouts)
  }

  /// Sends a request and waits for its outcome. A second completion fails the test.
  func perform(_ request: NetLayer.Request, on transport: (any Transport)? = nil) throws -> Outcome {
    let pending = PendingCall(self)
    _ = pending.send(request, on: transport ?? self.transport)
    return try pending.outcome()
  }

  func response(_ request: NetLayer.Request) throws -> NetLayer.Response { try perform(request).get() }

  /// Returns the error of `request`, and asserts that it is of `kind`.
  @discardableResult
  func failure(
    _ request: NetLayer.Request, _ kind: NetworkError.Kind, on transport: (any Transport)? = nil,
    file: StaticString = #filePath, line: UInt = #line
  ) throws -> NetworkError {
    switch try perform(request, on: transport) {
    case .success(let response):
      XCTFail("expected \(kind), got status \(response.status)", file: file, line: line)
      throw XCTSkip("no error to look at")
    case .failure(let error):
      XCTAssertEqual(error.kind, kind, "\(error)", file: file, line: line)
      XCTAssertEqual(error.request?.url, request.url, file: file, line: line)
      XCTAssertFalse(error.message.isEmpty, file: file, line: line)
      return error
    }
  }

  /// Asserts that the transport still works.
  func assertStillServes(file: StaticString = #filePath, line: UInt = #line) throws {
    XCTAssertEqual(try response(request(.get, "/text")).status, 200, file: file, line: line)
  }

  /// Waits until `condition` holds, because the server sees some events slightly later than the client.
  func wait(until what: String, _ condition: () -> Bool) {
    XCTAssert(holds(condition), "waited in vain until \(what)")
  }

  /// Creates a file with `content` in the temporary directory, which is removed after the test.
  func temporaryFile(_ content: Data) throws -> URL {
    let file = FileManager.default.temporaryDirectory.appending(path: "transport-\(UUID().uuidString)")
    try content.write(to: file)
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    return file
  }
}

extension XCTestCase {
  /// Sends `request`, or downloads to its destination, and waits for the outcome.
  func outcome(_ request: NetLayer.Request, on transport: any Transport) throws -> TransportSuite.Outcome {
    let pending = PendingCall(self)
    _ = pending.send(request, on: transport)
    return try pending.outcome()
  }

  #if canImport(CLibcurl)
    /// Returns the transports that lack a feature of libcurl: URLSession's, and libcurl's unless `isAvailable`.
    func transportsThatLack(_ isAvailable: Bool) throws -> [any Transport] {
      var transports: [any Transport] = isAvailable ? [] : [try CurlTransport()]
      #if HAS_URLSESSION
        transports.append(URLSessionTransport())
      #endif
      return transports
    }
  #endif
}

/// One request, whose completions are counted.
final class PendingCall: Sendable {
  private let outcomes = Mutex<[TransportSuite.Outcome]>([])
  private let isOnMain = Mutex(false)
  private let end = Mutex<ContinuousClock.Instant?>(nil)
  let completed: XCTestExpectation

  init(_ test: XCTestCase) {
    completed = test.expectation(description: "completion called")
    completed.assertForOverFulfill = true
  }

  func send(_ request: NetLayer.Request, on transport: any Transport) -> any Disposable {
    request.destination.map { transport.download(request, to: $0, completion: complete) }
      ?? transport.send(request, completion: complete)
  }

  @Sendable func complete(_ outcome: TransportSuite.Outcome) {
    isOnMain.withLock { $0 = $0 || Thread.isMainThread }
    outcomes.withLock { $0.append(outcome) }
    end.withLock { $0 = .now }
    completed.fulfill()
  }

  /// The number of completions.
  var ends: Int { outcomes.withLock { $0.count } }

  /// Releases the outcomes and the objects that they hold.
  func forget() { outcomes.withLock { $0 = [] } }

  /// The time of the completion.
  var endedAt: ContinuousClock.Instant? { end.withLock { $0 } }

  func outcome() throws -> TransportSuite.Outcome {
    // The longest time limit in these tests is the default total of 60 s.
    guard XCTWaiter().wait(for: [completed], timeout: 90) == .completed else {
      XCTFail("the completion was not called")
      throw XCTSkip("no outcome to look at")
    }
    XCTAssertFalse(isOnMain.withLock { $0 }, "called on the main thread")
    let all = outcomes.withLock { $0 }
    XCTAssertEqual(all.count, 1, "called \(all.count) times")
    return all[0]
  }
}
