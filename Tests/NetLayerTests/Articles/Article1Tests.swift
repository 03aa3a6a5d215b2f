import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private struct UserInfo: Decodable, Equatable, Sendable {
  var age: Int?
  var name: String?
}

// The response of one backend in the article, which checks its own code.
private struct BaseResp<Payload: Decodable & Sendable>: BaseResponse {
  var code: Int?
  var msg: String?
  var data: Payload?

  func makeCustomError() -> (any Error)? {
    guard let code, code != 0 else { return nil }
    return NetworkError(kind: .rejected, code: code, message: msg, reason: "the server refused with \(code)")
  }
}

private enum TestAPI: Endpoint {
  case m, n
  case user(Int)

  var path: String {
    switch self {
    case .m: "/m"
    case .n: "/n"
    case .user(let id): "/user/\(id)"
    }
  }
}

private enum Test2API: Endpoint {
  case n
  var path: String { "/n" }
}

final class Article1Tests: XCTestCase {
  private let stub = StubTransport { request in
    switch request.url.path {
    case "/m": .json(#"{"code":0,"data":{"name":"m","age":1}}"#)
    case "/n": .json(#"{"code":0,"data":{"name":"n","age":2}}"#)
    case "/user/1": .json(#"{"code":0,"data":{"name":"u","age":3}}"#)
    default: .json(#"{"code":7,"msg":"没有"}"#)
    }
  }
  private var base: Network { Network(Backend(baseURL: URL(string: "http://base"), transport: stub)) }
  private var second: Network { Network(Backend(baseURL: URL(string: "http://second"), transport: stub)) }

  func test_row_1_14_finalExampleOfTheArticle_works() throws {
    let reports = Counter()
    let one = base.request(TestAPI.n, as: BaseResp<UserInfo>.self, progress: { _ in reports.next() })
    XCTAssertEqual(record(one).elements.first?.data, UserInfo(age: 2, name: "n"))
    XCTAssertEqual(record(base.request(TestAPI.n, as: String.self)).elements.first?.hasPrefix("{"), true)
    XCTAssertEqual(record(base.request(TestAPI.n, as: JSON.self)).elements.first?["data"]["age"].int, 2)

    let zipped = base.zip([TestAPI.m, .n], as: BaseResp<UserInfo>.self)
    XCTAssertEqual(record(zipped).elements.first?.map { $0.data?.name }, ["m", "n"])

    let chain = RequestChain(on: base) { TestAPI.m.as(BaseResp<UserInfo>.self) }
      .then { first in TestAPI.user(first.data?.age ?? 0).as(BaseResp<UserInfo>.self) }
      .then(StepOptions(on: second)) { _ in Test2API.n.as(String.self) }
    let (first, user, text) = try XCTUnwrap(record(chain.run()).elements.first)
    XCTAssertEqual([first.data?.name, user.data?.name], ["m", "u"])
    XCTAssertTrue(text.contains("\"n\""))
  }

  func test_row_1_4_errorOfTheModel_reachesTheCallerUnchanged() throws {
    let error = try failure(of: base.request(TestAPI.user(9), as: BaseResp<UserInfo>.self))
    XCTAssertEqual(error.kind, .rejected)
    XCTAssertEqual(error.code, 7)
    XCTAssertEqual(error.message, "没有")
    XCTAssertEqual(error.response?.status, 200)
  }

  func test_row_1_2_backend_isOneValueWithSessionInterceptorsAndErrorHandler() {
    let notes = Notes()
    let network = Network(
      Backend(
        baseURL: URL(string: "http://base"), transport: stub, timeouts: .init(attempt: .seconds(5)),
        interceptors: [CallEventHandler { if $0.kind == .started { notes.add("started") } }],
        onError: { notes.add("\($0.kind)") }))
    _ = record(network.request(TestAPI.user(9), as: BaseResp<UserInfo>.self))
    XCTAssertEqual(notes.all, ["started", "rejected"])
  }

  func test_row_1_3_logger_isAnInterceptor() {
    let notes = Notes()
    let logging = base.with { $0.interceptors = [NetworkLogger(output: { notes.add($0) })] }
    _ = record(logging.request(TestAPI.m, as: String.self))
    XCTAssertEqual(notes.all.count, 2)
  }

  func test_row_1_6_globalHandler_receivesEachErrorOnce_andSoDoesTheCaller() throws {
    let seen = Locked<[NetworkError.Kind]>([])
    let transport = StubTransport { request in
      switch request.url.path {
      case "/offline": .failure(.connection)
      case "/down": .json("", status: 500)
      case "/html": .json("<")
      case "/refused": .json(#"{"code":1}"#)
      default: .json(#"{"code":200,"data":"x"}"#)
      }
    }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), envelope: .standard, transport: transport,
        onError: { error in seen.withLock { $0.append(error.kind) } },
        mapError: { error in
          var error = error
          if error.kind == .rejected { error.message = "mapped" }
          return error
        }))
    for path in ["/offline", "/down", "/html", "/refused", "/shape"] {
      _ = try failure(of: network.json(.get, path).common().data(Int.self))
    }
    XCTAssertEqual(seen.withLock { $0 }, [.connection, .status, .parse, .rejected, .parse])
    XCTAssertEqual(try failure(of: network.json(.get, "/refused")).message, "mapped")
    _ = try failure(of: network.string(.get, "/down"))
    _ = try failure(of: network.responses(.get, "/offline"))
    XCTAssertEqual(seen.withLock { $0.count }, 8)
    XCTAssertEqual(record(network.json(.get, "/ok").data(String.self)).elements, ["x"])
    XCTAssertEqual(seen.withLock { $0.count }, 8)
  }

  func test_row_1_7_structsClassesArraysAndScalars_areModels() {
    final class Person: Decodable, Sendable {
      let name: String
    }
    enum Sort: String, Decodable, Sendable { case m }
    let reply = base.request(TestAPI.m)
    XCTAssertEqual(record(reply.map(Person.self, at: "data")).elements.first?.name, "m")
    XCTAssertEqual(record(reply.map(UserInfo.self, at: "data")).elements.first?.name, "m")
    XCTAssertEqual(record(reply.map(Sort.self, at: "data.name")).elements, [.m])
    XCTAssertEqual(record(reply.map(Int.self, at: "data.age")).elements, [1])
  }

  func test_row_1_9_oneCall_canBeStubbed() {
    let transport = StubTransport { _ in .never }
    let live = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    let stubbed = live.with { $0.transport = StubTransport([.init(TestAPI.n, .json("1"))]) }
    XCTAssertEqual(record(stubbed.request(TestAPI.n, as: Int.self)).elements, [1])
    XCTAssertEqual(transport.requests.count, 0)
  }

  func test_row_1_10_timeoutsAndDefaultHeaders_belongToTheBackend() throws {
    let timeouts = Request.Timeouts()
    XCTAssertEqual([timeouts.connect, timeouts.idle, timeouts.attempt], [.seconds(15), .seconds(60), nil])
    let transport = StubTransport { _ in .json("{}") }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), headers: ["User-Agent": "app"], transport: transport,
        timeouts: .init(connect: .seconds(1), idle: .seconds(2), attempt: .seconds(3))))
    _ = record(network.responses(.get, "/a"))
    let request = try XCTUnwrap(transport.requests.first)
    XCTAssertEqual(request.headers["User-Agent"], "app")
    XCTAssertEqual(request.timeouts, .init(connect: .seconds(1), idle: .seconds(2), attempt: .seconds(3)))
  }

  func test_row_1_11_everyErrorCaseOfTheArticle_hasAKind() throws {
    XCTAssertEqual(try failure(of: base.request(TestAPI.m, as: Int.self)).kind, .parse)
    XCTAssertEqual(try failure(of: base.request(TestAPI.user(9), as: BaseResp<UserInfo>.self)).code, 7)
    let broken = RequestChain(on: base) { TestAPI.m.as(String.self) }
      .then { _ in TestAPI.user(9).as(BaseResp<UserInfo>.self) }
    let error = try failure(of: broken.run())
    XCTAssertEqual(error.kind, .rejected, "the article's sequence(break(index)) loses the cause; here it has an index")
    XCTAssertEqual(error.index, 1)
    let endless = Observable.pages(startingAt: nil) { _ in .just(Page(items: [1], cursor: "a")) }
    XCTAssertEqual(record(endless).error?.kind, .repeatedPage)
    struct Own: Error {}
    XCTAssertEqual(NetworkError.wrapping(Own()).kind, .other)
  }
}
