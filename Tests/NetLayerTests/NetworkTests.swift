import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import Synchronization
import TestSupport
import XCTest

final class NetworkTests: XCTestCase {
  func test_row_3_16_cancelledRequest_isCountedOutImmediately() {
    struct Deaf: Transport {
      func send(
        _ request: Request, progress: ProgressHandler?,
        completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
      ) -> any Disposable { Disposables.create() }
    }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: Deaf()))
    let counts = Notes()
    let watching = network.requestsInFlight.subscribe(onNext: { counts.add("\($0)") })
    network.responses(.get, "/x").subscribe(onError: { _ in }).dispose()
    watching.dispose()
    XCTAssertEqual(counts.all, ["0", "1", "0"])
  }

  private struct User: Codable, Equatable {
    var id: Int
    var name: String
  }

  private let user = #"{"code":200,"message":"ok","data":{"id":7,"name":"李"}}"#

  private func network(_ transport: StubTransport, _ change: (inout Backend) -> Void = { _ in }) throws -> Network {
    var backend = Backend(baseURL: try XCTUnwrap(URL(string: "http://example.com/api")), transport: transport)
    change(&backend)
    return Network(backend)
  }

  func test_row_0_9_json_sendsAcceptJSON_unlessTheCallerSetsAccept() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    let network = try network(transport)
    _ = record(network.json(.get, "/a"))
    _ = record(network.json(.get, "/a", headers: ["accept": "text/x"]))
    _ = record(network.string(.get, "/a"))
    XCTAssertEqual(transport.requests.map { $0.headers["Accept"] }, ["application/json", "text/x", nil])
  }

  func test_row_0_2_commonParameters_areEvaluatedPerRequest_andTheCallersWin() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    let count = Counter()
    let network = try network(transport) {
      $0.commonParameters = { ["token": "t\(count.next())", "app_version": "1.0"] }
    }
    _ = record(network.json(.get, "/a", parameters: ["id": 1]))
    _ = record(network.json(.get, "/a", parameters: ["token": "mine"]))
    _ = record(network.json(.post, "/a", parameters: ["id": 1], encoding: .json))
    _ = record(network.json(.post, "/a"))
    XCTAssertEqual(transport.requests[0].url.query(), "app_version=1.0&id=1&token=t1")
    XCTAssertEqual(transport.requests[1].url.query(), "app_version=1.0&token=mine")
    XCTAssertEqual(transport.requests[2].text, #"{"app_version":"1.0","id":1,"token":"t3"}"#)
    XCTAssertEqual(transport.requests[3].text, #"{"app_version":"1.0","token":"t4"}"#)
    _ = record(network.with { $0.bodyEncoding = .form }.json(.post, "/a"))
    XCTAssertEqual(transport.requests[4].text, "app_version=1.0&token=t5")
  }

  func test_anyEncodable_isAcceptedAsParameters() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    let network = try network(transport)
    _ = record(network.json(.post("/a", json: User(id: 1, name: "n"))))
    _ = record(network.data(.get, "/a", parameters: Parameters(User(id: 1, name: "n"))))
    _ = record(network.string(.get, "/a", parameters: ["a": [1, 2]]))
    XCTAssertEqual(transport.requests[0].text, #"{"id":1,"name":"n"}"#)
    XCTAssertEqual(transport.requests[1].url.query(), "id=1&name=n")
    XCTAssertEqual(transport.requests[2].url.query(), "a%5B%5D=1&a%5B%5D=2")
  }

  func test_row_1_21_eachSubscription_sendsItsOwnRequest() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    let stream = try network(transport).json(.get, "/a").data(User.self)
    XCTAssertEqual(transport.requests.count, 0)
    _ = record(stream)
    XCTAssertEqual(transport.requests.count, 1)
    _ = record(stream)
    XCTAssertEqual(transport.requests.count, 2)
  }

  func test_row_0_5_disposing_cancelsTheRequest_andNothingArrives() throws {
    let scheduler = TestScheduler()
    let transport = StubTransport(on: scheduler) { _ in .never }
    let events = Counter()
    let subscription = try network(transport).json(.get, "/a").data(User.self).subscribe(
      onNext: { _ in events.next() }, onError: { _ in events.next() }, onCompleted: { events.next() })
    XCTAssertEqual(transport.requests.count, 1)
    subscription.dispose()
    XCTAssertEqual(transport.cancelled.count, 1)
    scheduler.start()
    XCTAssertEqual(events.value, 0)
  }

  func test_row_0_26_disposeBag_cancelsWithItsOwner() throws {
    let transport = StubTransport { _ in .never }
    var bag: DisposeBag? = DisposeBag()
    let network = try network(transport)
    network.json(.get, "/a").bool().subscribe().disposed(by: try XCTUnwrap(bag))
    bag = nil
    XCTAssertEqual(transport.cancelled.count, 1)
  }

  func test_mapping_neverRunsOnTheMainThreadOrTheTransportsThread() throws {
    let transport = StubTransport(on: TransportThread.scheduler()) { [user] _ in .json(user) }
    let labels = Labels()
    let network = try network(transport) {
      $0.coding.decoder = SpyDecoder(labels: labels)
      $0.envelope = .standard
    }
    let recorded = record(network.json(.get, "/a").data(User.self))
    XCTAssertEqual(recorded.elements, [User(id: 7, name: "李")])
    XCTAssertEqual(recorded.onMain, [false, false])
    XCTAssertEqual(labels.all, ["elsewhere"])
  }

  func test_row_0_20_delivery_followsMapping_alsoForErrors() throws {
    let labels = Labels()
    let transport = StubTransport(on: TransportThread.scheduler()) { [user] request in
      switch request.url.lastPathComponent {
      case "ok": .json(user)
      case "refused": .json(#"{"code":1}"#)
      case "broken": .json(#"{"code":200,"data":1}"#)
      default: .failure(.connection)
      }
    }
    let network = try network(transport) {
      $0.delivery = MainScheduler.instance
      $0.coding.decoder = SpyDecoder(labels: labels)
    }
    for path in ["ok", "refused", "broken", "offline"] {
      let recorded = record(network.json(.get, path).data(User.self))
      XCTAssertEqual(Set(recorded.onMain), [true], path)
    }
    XCTAssertEqual(Set(record(network.request(Ping(), as: JSON.self)).onMain), [true])
    XCTAssertEqual(Set(record(network.request(Ping()).map(User.self, at: "data")).onMain), [true])
    XCTAssertEqual(Set(record(network.json(.get, "ok")).onMain), [false])
    XCTAssertEqual(Set(labels.all), ["elsewhere"])
  }

  func test_everySingle_isDeliveredOnItsScheduler_andReleased() throws {
    let network = try network(StubTransport { _ in .json(#"{"a":1}"#) }) { $0.delivery = MainScheduler.instance }
    let before = Hooks.liveSubscriptionCount
    for _ in 0..<100 {
      XCTAssertEqual(Set(record(network.request(Ping(), as: [String: Int].self)).onMain), [true])
      XCTAssertEqual(Set(record(network.request(Ping(), as: String.self)).onMain), [true])
      XCTAssertEqual(Set(record(network.request(Ping(), as: Int.self)).onMain), [true])
    }
    let released = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in Hooks.liveSubscriptionCount <= before }, object: nil)
    wait(for: [released], timeout: 60)
  }

  func test_row_2_14_environment_selectsTheBaseURL() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    for (environment, host) in [(Backend.Environment.qa, "qa.h"), (.production, "h"), ("nightly", "base")] {
      let network = Network(
        Backend(
          baseURL: URL(string: "http://base/v3"),
          environments: [
            .qa: try XCTUnwrap(URL(string: "http://qa.h/v3")), .production: try XCTUnwrap(URL(string: "http://h/v3")),
          ],
          environment: environment, transport: transport))
      _ = record(network.json(.get, "movies"))
      XCTAssertEqual(transport.requests.last?.url.absoluteString, "http://\(host)/v3/movies")
    }
  }

  func test_callThatCannotBeBuilt_failsWithoutSending_offTheMainThread() throws {
    let transport = StubTransport { [user] _ in .json(user) }
    let network = try network(transport) { $0.messages = .chinese }
    let recorded = record(network.json(.get, "/a", parameters: ["x": Double.nan]))
    XCTAssertEqual(recorded.error?.kind, .encoding)
    XCTAssertEqual(recorded.error?.message, NetworkError.Messages.chinese.parameter)
    XCTAssertEqual(recorded.onMain, [false])
    XCTAssertEqual(try failure(of: network.json(.get, "/../a")).kind, .invalidRequest)
    XCTAssertEqual(transport.requests.count, 0)
  }

  func test_row_0_18_defaultNetwork_isSetOnce() throws {
    let server = try SharedDefault.install()
    XCTAssertThrowsError(try Network.setDefault(Network())) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      XCTAssertTrue("\(error)".contains("already"), "\(error)")
    }
    XCTAssertEqual(Network.default.backend.baseURL, server.url)
  }

  func test_response_isReturnedWhateverItsStatus() throws {
    let network = try network(StubTransport { _ in .json("no", status: 404) })
    let response = record(network.responses(.get, "/a")).elements.first
    XCTAssertEqual(response?.status, 404)
    XCTAssertEqual(record(network.responses(Ping())).elements.first?.body, Data("no".utf8))
    XCTAssertEqual(try failure(of: network.request(Ping())).kind, .status)
    XCTAssertEqual(try failure(of: network.request(Ping(), as: String.self)).kind, .status)
    XCTAssertEqual(try failure(of: network.data(.get, "/a")).kind, .status)
    XCTAssertEqual(try failure(of: network.request(Ping().as(Void.self))).code, 404)
  }

  func test_row_1_5_result_canBeTextBytesJSONOrVoid() throws {
    let network = try network(StubTransport { _ in .json(#"{"a":1}"#) })
    XCTAssertEqual(record(network.request(Ping(), as: String.self)).elements, [#"{"a":1}"#])
    XCTAssertEqual(record(network.request(Ping(), as: Data.self)).elements, [Data(#"{"a":1}"#.utf8)])
    XCTAssertEqual(record(network.request(Ping(), as: JSON.self)).elements.first?["a"].int, 1)
    XCTAssertEqual(record(network.request(Ping().as(Void.self))).elements.count, 1)
    XCTAssertEqual(record(network.request(Ping(), as: [String: Int].self)).elements, [["a": 1]])
  }
}

struct Ping: Endpoint {
  var path: String { "/ping" }
}

/// A thread of a transport that tests can identify.
private enum TransportThread {
  private static let mark = QueueMark()
  static var isCurrent: Bool { mark.isHere }

  static func scheduler() -> SerialDispatchQueueScheduler {
    let queue = DispatchQueue(label: "transport")
    mark.put(on: queue)
    return SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "transport")
  }
}

/// A decoder that records the thread on which it runs.
private struct SpyDecoder: ModelDecoder {
  let labels: Labels

  func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model {
    labels.note(TransportThread.isCurrent ? "transport" : MainThread.isCurrent ? "main" : "elsewhere")
    return try JSONModelDecoder.default.decode(type, from: json)
  }
}

private final class Labels: Sendable {
  private let seen = Locked<[String]>([])
  var all: [String] { seen.withLock { $0 } }
  func note(_ label: String) { seen.withLock { $0.append(label) } }
}
