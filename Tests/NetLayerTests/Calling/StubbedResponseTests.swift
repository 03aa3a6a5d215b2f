import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private enum API: Endpoint {
  case user(Int), like
  var path: String {
    switch self {
    case .user(let id): "user/\(id)"
    case .like: "/like"
    }
  }
  var method: HTTPMethod {
    switch self {
    case .user: .get
    case .like: .post
    }
  }
}

final class StubbedResponseTests: XCTestCase {
  private func network(_ transport: any Transport) -> Network {
    Network(Backend(baseURL: URL(string: "http://h/v1"), transport: transport))
  }

  func test_row_1_9_stubOfAnEndpoint_respondsBelowAnyBase() throws {
    let stub = StubTransport([.init(API.user(7), .json("7")), .init(API.like, .json("true"))])
    XCTAssertEqual(record(network(stub).request(API.user(7), as: Int.self)).elements, [7])
    XCTAssertEqual(record(network(stub).request(API.like, as: Bool.self)).elements, [true])
    let error = try failure(of: network(stub).request(API.user(17), as: Int.self))
    XCTAssertEqual(error.kind, .connection)
    XCTAssertTrue(error.reason.contains("GET http://h/v1/user/17"))
  }

  func test_stubOfAnError_hasItsRequest() throws {
    let known = NetworkError(kind: .other, reason: "broken", underlying: CocoaError(.fileNoSuchFile))
    let stub = StubTransport([.init(API.user(7), .failure(known)), .init(API.like, .failure(known, after: .zero))])
    for endpoint in [API.user(7), .like] {
      let error = try failure(of: network(stub).request(endpoint))
      XCTAssertEqual((error.underlying as? CocoaError)?.code, .fileNoSuchFile)
      XCTAssertEqual([error.kind.description, error.reason], ["other", "broken"])
      XCTAssertEqual(error.request?.method, endpoint.method)
    }
  }

  func test_stubOfAnErrorThatNamesARequest_keepsIt() throws {
    let other = Request(url: try XCTUnwrap(URL(string: "http://other/first")))
    let stub = StubTransport { _ in .failure(NetworkError(kind: .other, reason: "broken", request: other)) }
    XCTAssertEqual(try failure(of: network(stub).request(API.like)).request?.url, other.url)
  }

  func test_requestThatCannotBeRecordedFails() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let replies = StubTransport { $0.method == .get ? .json("7") : .failure(.timeout) }
    let transport = try RecordingTransport(replies, to: folder.appending(path: "calls.har"))
    try FileManager.default.removeItem(at: folder)
    for endpoint in [API.user(7), .like] {
      let error = try failure(of: network(transport).request(endpoint))
      XCTAssertEqual(error.kind, .file)
      XCTAssert(error.reason.contains("calls.har can't be written"), error.reason)
      XCTAssertEqual(error.request?.method, endpoint.method)
    }
  }

  func test_recordingKeepsEarlierResponsesWhenTheDiskIsFull() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    try SmallDisk.mount(at: folder, for: self)
    let file = folder.appending(path: "recording")
    let text = #""\#(String(repeating: "x", count: 40_000))""#
    let transport = try RecordingTransport(StubTransport { _ in .json(text) }, to: file)
    XCTAssertEqual(record(network(transport).request(API.user(1))).ends, 1)
    XCTAssertEqual(try failure(of: network(transport).request(API.user(2))).kind, .file)
    let replayed = network(try StubTransport(har: file))
    XCTAssertEqual(record(replayed.request(API.user(1), as: String.self)).elements.map(\.count), [text.count])
  }

  func test_stubbedResponseCanHaveRedirects() throws {
    let redirect = Response.Redirect(
      url: try XCTUnwrap(URL(string: "http://h/old")), status: 301, headers: ["Location": "/new"])
    let stub = StubTransport { _ in .response(redirects: [redirect]) }
    XCTAssertEqual(try network(stub).request(API.like).toBlocking().first()?.redirects, [redirect])
  }

  func test_stubbedResponseCanHaveTrailers() throws {
    let stub = StubTransport { _ in .response(trailers: ["ETag": "1"]) }
    XCTAssertEqual(try network(stub).request(API.like).toBlocking().first()?.trailers, ["ETag": "1"])
  }

  func test_row_3_15_stubbedResponses_canFollowOneAnother() throws {
    let stub = StubTransport([
      .init({ $0.url.path == "/v1/user/1" }, .sequence([.failure(.timeout), .json("1"), .json("2")]))
    ])
    let call = network(stub).request(API.user(1), as: Int.self)
    XCTAssertEqual(try failure(of: call).kind, .timeout)
    XCTAssertEqual((1...3).map { _ in record(call).elements }, [[1], [2], [2]])
  }

  func test_row_1_9_delays_passInVirtualTime() {
    let scheduler = TestScheduler()
    let stub = StubTransport([.init(API.user(1), .json("1", after: .seconds(3600)))], on: scheduler)
    let network = network(stub).with { $0.mapping = scheduler }
    let observer = scheduler.createObserver(Int.self)
    let subscription = network.request(API.user(1), as: Int.self).asObservable().subscribe(observer)
    defer { subscription.dispose() }
    scheduler.advanceTo(3599)
    XCTAssertEqual(observer.events.count, 0)
    scheduler.advanceTo(3600)
    XCTAssertEqual(observer.events.count, 2)
  }

  func test_row_1_8_progress_isReportedWithTheResult_alsoByStubs() {
    let reports = [1, 2, 3].map { TransferProgress(received: $0, receiveTotal: 3) }
    let stub = StubTransport([.init(API.user(1), .json("123").reporting(reports))])
    let seen = Notes()
    let call = network(stub).request(API.user(1), as: Int.self) { seen.add("\($0.fractionReceived ?? -1)") }
    XCTAssertEqual(record(call).elements, [123])
    XCTAssertEqual(seen.all.last, "1.0")
    XCTAssertEqual(seen.all.count, 3)
  }

  func test_disposing_stopsProgressReports() {
    let scheduler = TestScheduler()
    let reports = (1...10).map { TransferProgress(received: $0) }
    let stub = StubTransport([.init(API.user(1), .json("1").reporting(reports, every: .seconds(1)))], on: scheduler)
    let seen = Counter()
    let subscription = network(stub).with { $0.mapping = scheduler }
      .request(API.user(1), as: Int.self) { _ in seen.next() }.subscribe()
    scheduler.advanceTo(4)
    subscription.dispose()
    scheduler.start()
    XCTAssertEqual(seen.value, 4)
  }

  func test_row_3_15_realTraffic_isRecordedAndReplayed() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let count = Counter()
    let base = StubTransport { request in
      switch request.url.path {
      case "/v1/user/1": .response(headers: ["Set-Cookie": "s3cret", "X": "y"], body: Data("\(count.next())".utf8))
      default: .failure(.timeout)
      }
    }
    let live = network(try RecordingTransport(base, to: file))
    func run(_ network: Network) throws -> [String] {
      var seen = try (1...2).map { _ in
        let response = try XCTUnwrap(
          record(network.responses(.get, "user/1", parameters: ["token": "s3cret"])).elements.first)
        return "\(response.status) \(try response.text()) \(response.headers["X"] ?? "")"
      }
      seen.append(try failure(of: network.request(API.user(2))).kind.rawValue)
      return seen
    }
    let recorded = try run(live)
    XCTAssertEqual(recorded, ["200 1 y", "200 2 y", "timeout"])
    XCTAssertEqual(try run(network(StubTransport(har: file))), recorded)
    XCTAssertFalse(try String(contentsOf: file, encoding: .utf8).contains("s3cret"))
    XCTAssertThrowsError(try StubTransport(har: file.appending(path: "none"))) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .file)
    }
  }
}
