import LoopbackServer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class Article0RowsTests: XCTestCase {
  private func network(_ transport: any Transport) -> Network {
    Network(Backend(baseURL: URL(string: "http://h"), envelope: .standard, transport: transport))
  }

  func test_row_0_1_call_returnsBeforeItsResponseArrives() {
    let transport = StubTransport { _ in .never }
    let subscription = network(transport).json(.get, "/a").subscribe()
    XCTAssertEqual(transport.requests.count, 1, "sent, and this thread goes on")
    subscription.dispose()
  }

  func test_row_0_2_deviceAndVersion_areSentAsCommonParameters() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)/device")
    defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    let device = try Device.current(storingIn: file)
    XCTAssertEqual(try Device.current(storingIn: file), device, "the same after a restart")
    XCTAssertNotNil(UUID(uuidString: device.id))
    XCTAssertThrowsError(try Device.current(storingIn: URL(filePath: "/dev/null/x"))) {
      XCTAssertEqual(($0 as? NetworkError)?.kind, .file)
    }
    let transport = StubTransport { _ in .json("{}") }
    let network = network(transport).with { backend in
      backend.commonParameters = { ["device_id": device.id, "device": device.description] }
    }
    _ = record(network.responses(.get, "/a"))
    let query = try XCTUnwrap(transport.requests[0].url.query(percentEncoded: false))
    XCTAssertEqual(query, "device=\(device.system); \(device.architecture)&device_id=\(device.id)")
  }

  func test_row_0_4_transportStatusParseAndBusinessErrors_areOneType() throws {
    let transport = StubTransport { request in
      switch request.url.path {
      case "/offline": .failure(.connection)
      case "/down": .json("<html>", status: 502)
      case "/html": .json("<html>")
      case "/shape": .json(#"{"code":200,"data":[]}"#)
      default: .json(#"{"code":"E7","message":"不行"}"#)
      }
    }
    let network = network(transport)
    let kinds = try ["/offline", "/down", "/html", "/shape", "/refused"].map { path in
      let error = try failure(of: network.json(.get, path).data([String: Int].self))
      XCTAssertFalse(error.message.isEmpty)
      XCTAssertEqual(error.request?.url.path, path)
      XCTAssertEqual(error.response == nil, path == "/offline")
      return error.kind
    }
    XCTAssertEqual(kinds, [.connection, .status, .parse, .parse, .rejected])
  }

  func test_row_0_6_everyCall_endsInExactlyOneState() {
    let transport = StubTransport { request in
      switch request.url.path {
      case "/value": .json(#"{"code":200,"data":1}"#)
      default: .failure(.timeout)
      }
    }
    let value = record(network(transport).json(.get, "/value").data(Int.self))
    XCTAssertEqual([value.elements.count, value.errors.count, value.completions], [1, 0, 1])
    let failed = record(network(transport).json(.get, "/late").data(Int.self))
    XCTAssertEqual([failed.elements.count, failed.errors.count, failed.completions], [0, 1, 0])
  }

  func test_row_0_11_callbacks_needNoRunLoop_andRunOffTheMainThread() {
    let done = DispatchSemaphore(value: 0)
    let onMain = Locked<Bool?>(nil)
    let network = network(StubTransport { _ in .json(#"{"code":200,"data":1}"#) })
    // One call from a thread without a run loop, and one from this thread, which is blocked.
    Thread.detachNewThread {
      _ = network.json(.get, "/a").data(Int.self).subscribe(onNext: { _ in
        onMain.withLock { $0 = Thread.isMainThread }
        done.signal()
      })
    }
    XCTAssertEqual(done.wait(timeout: .now() + 10), .success)
    XCTAssertEqual(onMain.withLock { $0 }, false)
  }

  func test_row_0_14_anySource_canBeChainedWithACall() {
    let network = network(StubTransport { _ in .json(#"{"code":200,"data":"Beijing"}"#) })
    let place = BehaviorSubject(value: 1)  // such as a location, a text field or a timer
    let names = place.take(1).flatMapLatest { id in
      network.json(.get, "/place", parameters: ["id": id]).data(String.self)
    }
    XCTAssertEqual(record(names).elements, ["Beijing"])
  }

  func test_row_0_19_json_takesMethodURLParametersEncodingAndHeaders() throws {
    let transport = StubTransport { _ in .json(#"{"code":200}"#) }
    let network = network(transport).with { $0.commonParameters = { ["token": "t"] } }
    _ = record(
      network.json(.put, "/user/detail.do", parameters: ["userid": 7], encoding: .json, headers: ["X": "y"]))
    let request = try XCTUnwrap(transport.requests.first)
    XCTAssertEqual(request.method, .put)
    XCTAssertEqual(request.text, #"{"token":"t","userid":7}"#)
    XCTAssertEqual(request.headers["X"], "y")
    let absolute = try XCTUnwrap(URL(string: "http://h/x"))
    _ = record(network.json(.get, absolute))
    XCTAssertEqual(transport.requests.last?.url.absoluteString, "http://h/x?token=t")
  }

  func test_row_0_24_codesDomainAndMessages_matchTheArticle() throws {
    let transport = StubTransport { $0.url.path == "/html" ? .json("<") : .failure(.connection) }
    let network = network(transport).with { $0.messages = .chinese }
    let cases: [(Observable<JSON>, Int, String)] = [
      (network.json(.get, "/offline"), -1212, "网络状态不佳，请稍后再试。"),
      (network.json(.get, "/html"), -1213, "服务器数据解析失败。"),
      (network.json(.post, "/a", parameters: ["x": Double.nan]), -1214, "请求参数有误。"),
    ]
    for (call, code, message) in cases {
      let error = try failure(of: call)
      XCTAssertEqual(error.code, code)
      XCTAssertEqual(error.localizedDescription, message)
      #if HAS_URLSESSION
        let bridged = error as NSError
        XCTAssertEqual(bridged.domain, "NetLayer.NetworkError")
        XCTAssertEqual(bridged.code, code)
        XCTAssertEqual(bridged.localizedDescription, message)
        XCTAssertNotNil(bridged.localizedFailureReason)
      #endif
    }
  }

  func test_row_0_25_everyKind_hasAMessageInBothLanguages() {
    let kinds = NetworkError.Kind.Known.allCases.map { NetworkError.Kind(rawValue: $0.rawValue) }
    for kind in kinds {
      let (english, chinese) = (
        NetworkError.Messages.english.text(for: kind), NetworkError.Messages.chinese.text(for: kind)
      )
      XCTAssertTrue(english.utf8.allSatisfy { $0 < 128 } && english.hasSuffix("."), english)
      XCTAssertTrue(chinese.unicodeScalars.contains { $0.value > 0x4E00 }, chinese)
    }
    var own = NetworkError.Messages.english
    own.timeout = "Zu langsam."
    XCTAssertEqual(own.text(for: .timeout), "Zu langsam.")
  }

  // The sample API of the article over HTTP: a feed of posts with cursor paging, where the cursor is a timestamp.
  func test_row_0_28_feed_isFollowedToItsEnd() throws {
    var routes = TestServer.Routes()
    routes.on("GET", "/2/feed-app") { request in
      switch request.query("before") {
      case nil: .json(#"{"result":"SUCCESS","feedList":[{"post_id":1},{"post_id":2}],"before_timestamp":1500}"#)
      case "1500": .json(#"{"result":"SUCCESS","feedList":[{"post_id":3}],"before_timestamp":0,"more":false}"#)
      default: .json(#"{"result":"ERROR","message":"参数错误"}"#)
      }
    }
    let server = try TestServer(routes: routes)
    struct Post: Decodable, Sendable { var post_id: Int }
    let tuchong = Network(
      Backend(
        baseURL: server.url,
        envelope: Envelope(code: "result", success: "SUCCESS", data: "feedList", cursor: "before_timestamp")))
    let feed = Observable.pages(startingAt: nil) { cursor in
      cursor == "0" ? .empty() : tuchong.json(.get, "/2/feed-app", parameters: ["before": cursor]).list(Post.self)
    }
    XCTAssertEqual(record(feed).elements.flatMap(\.items).map(\.post_id), [1, 2, 3])
  }
}
