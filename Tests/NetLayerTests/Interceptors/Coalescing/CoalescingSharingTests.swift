import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The sharing of one request among callers, and its limits.
final class CoalescingSharingTests: XCTestCase {
  private struct User: Decodable, Sendable { var firstName: String }

  private struct Stored: Endpoint {
    var key: String?
    var path: String { "/x" }
    var caching: CacheOptions { CacheOptions(key: key) }
  }

  func test_sharedResponse_isReadByTheRulesOfEachBackend() {
    let virtual = VirtualNetwork(.json(#"{"first_name":"Ann"}"#, after: .seconds(1)))
    let plain = virtual.network(CoalescingInterceptor())
    let snake = plain.with { $0.coding = .snakeCase }
    for first in [plain, snake] {
      let notes = Notes()
      for network in [first, first === plain ? snake : plain] {
        let name = network === plain ? "plain" : "snake"
        _ = network.request(.get("/x"), as: User.self).subscribe(
          onSuccess: { notes.add("\(name) \($0.firstName)") },
          onError: { notes.add("\(name) \(NetworkError.wrapping($0).kind)") })
      }
      virtual.scheduler.start()
      XCTAssertEqual(notes.all.sorted(), ["plain parse", "snake Ann"])
    }
    XCTAssertEqual(virtual.stub.requests.count, 2, "one for each round")
  }

  func test_sharedError_isTranslatedByEachBackend() {
    let virtual = VirtualNetwork(.failure(.timeout, after: .seconds(1)))
    let (observed, seen) = (Notes(), Notes())
    let network = virtual.network(CoalescingInterceptor())
    for (name, messages) in [("english", NetworkError.Messages.english), ("chinese", .chinese)] {
      let own = network.with { backend in
        backend.messages = messages
        backend.onError = { observed.add("\(name) \($0.message)") }
      }
      _ = own.responses(.get, "/x").subscribe(onError: { seen.add("\(name) \(NetworkError.wrapping($0).message)") })
    }
    virtual.scheduler.start()
    let texts = [
      "english \(NetworkError.Messages.english.timeout)", "chinese \(NetworkError.Messages.chinese.timeout)",
    ]
    XCTAssertEqual(observed.all, texts)
    XCTAssertEqual(seen.all, texts)
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_requestsWithDifferentTransportOptions_areNotShared() {
    let changes: [@Sendable (inout Backend) -> Void] = [
      { $0.timeouts.attempt = .seconds(0.3) }, { $0.timeouts.call = .zero }, { $0.options.redirects = .none },
      { $0.options.redirects = .follow(limit: 3) }, { $0.redaction = .standard.hiding(["X-Tenant"]) },
      { $0.options.redirects = .custom { _ in true } },
      { $0.options.maxBodySize = 2 }, { $0.options.httpVersion = .http1 }, { $0.options.cookies = CookieJar() },
    ]
    for (index, change) in changes.enumerated() {
      let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
      let network = virtual.network(CoalescingInterceptor())
      virtual.note("", network.responses(.get, "/x"))
      virtual.note("", network.with(change).responses(.get, "/x"))
      virtual.note("", network.with { $0.options.priority = .high }.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(
        virtual.stub.requests.count, 2, "change \(index), and one for the same options with another priority")
    }
  }

  func test_callsWithDifferentDeadlines_shareARequest_andEndAtTheirOwn() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(2)))
    let network = virtual.network(CoalescingInterceptor())
    for (name, limit) in [("first ", Duration.seconds(1)), ("second ", .seconds(3)), ("third ", .seconds(4))] {
      virtual.note(name, network.request(.get("/x").timeout(limit)).asObservable())
    }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["first timeout @1000", "second 200 ok @2000", "third 200 ok @2000"])
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_sharedRequest_isCancelledAtTheLastDeadline() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(9)))
    let network = virtual.network(CoalescingInterceptor())
    for (name, limit) in [("long ", Duration.seconds(3)), ("short ", .seconds(1))] {
      virtual.note(name, network.request(.get("/x").timeout(limit)).asObservable())
    }
    virtual.scheduler.advanceTo(1500)
    XCTAssertEqual(virtual.stub.cancelled.count, 0)
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["short timeout @1000", "long timeout @3000"])
    XCTAssertEqual(virtual.stub.cancelled.count, 1)
  }

  func test_copiesOfACustomRedirectPolicy_areShared() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let rule = RedirectPolicy.custom { _ in true }
    let network = virtual.network(CoalescingInterceptor())
    for _ in 0..<2 { virtual.note("", network.with { $0.options.redirects = rule }.responses(.get, "/x")) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }

  func test_requestsWithDifferentCacheOptions_areNotShared() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(CoalescingInterceptor())
    for key in [nil, "a", "a", "b"] { virtual.note("", network.responses(Call(Stored(key: key)))) }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 3)
    XCTAssertEqual(virtual.notes.all.count, 4)
  }

  func test_sharedRequest_callsEveryProgressHandler() {
    struct Get: Endpoint {
      var path: String { "/x" }
    }
    let whole = TransferProgress(sent: 0, sendTotal: 0, received: 2, receiveTotal: 2)
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)).reporting([whole]))
    let network = virtual.network(CoalescingInterceptor())
    let observed = Notes()
    for name in ["a", "b"] {
      let call: Single<Response> = network.request(Get(), progress: { observed.add("\(name) \($0.received)") })
      virtual.note("", call)
    }
    virtual.scheduler.start()
    XCTAssertEqual(observed.all.sorted(), ["a 2", "b 2"])
  }

  // MARK: Reads after writes

  private func cart() -> VirtualNetwork {
    let items = Counter()
    return VirtualNetwork { request in
      if request.method == .post { return .json("\(items.next())", status: 201, after: .seconds(1)) }
      return .json("\(items.value)", after: request.url.query() == nil ? .seconds(1) : .seconds(5))
    }
  }

  func test_requestAfterAWrite_doesNotReceiveAnOlderResponse() {
    let virtual = cart()
    let network = virtual.network(CoalescingInterceptor(window: .seconds(60)))
    virtual.note("get ", network.responses(.get, "/cart"))
    virtual.scheduler.advanceTo(2000)
    virtual.note("post ", network.responses(.post, "/cart").flatMap { _ in network.responses(.get, "/cart") })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["get 200 0 @1000", "post 200 1 @4000"])
  }

  func test_requestAfterAWrite_doesNotJoinAnEarlierRequest() {
    let virtual = cart()
    let network = virtual.network(CoalescingInterceptor())
    virtual.note("before ", network.responses(.get, "/cart", parameters: ["slow": 1]))
    virtual.note("post ", network.responses(.post, "/like"))
    virtual.scheduler.advanceTo(1500)
    virtual.note("after ", network.responses(.get, "/cart", parameters: ["slow": 1]))
    virtual.note("with it ", network.responses(.get, "/cart", parameters: ["slow": 1]))
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.notes.all, ["post 201 1 @1000", "before 200 0 @5000", "after 200 1 @6500", "with it 200 1 @6500"])
    XCTAssertEqual(virtual.stub.requests.count, 3)
  }

  func test_failedOrCancelledWrite_countsAsAWrite() {
    for ending in ["fails", "is cancelled"] {
      let virtual = VirtualNetwork { $0.method == .get ? .json("ok") : .failure(.timeout, after: .seconds(1)) }
      let network = virtual.network(CoalescingInterceptor(window: .seconds(60)))
      virtual.note("", network.responses(.get, "/cart"))
      virtual.scheduler.advanceTo(10)
      let write = virtual.note("", network.responses(.delete, "/cart"))
      if ending == "is cancelled" { write.dispose() }
      virtual.scheduler.advanceTo(2000)
      virtual.note("", network.responses(.get, "/cart"))
      virtual.scheduler.advanceTo(3000)
      XCTAssertEqual(virtual.stub.requests.filter { $0.method == .get }.count, 2, ending)
    }
  }

  func test_writeToAnotherOrigin_doesNotEndSharing() {
    let virtual = cart()
    let network = virtual.network(CoalescingInterceptor(window: .seconds(60)))
    virtual.note("", network.responses(.get, "/cart"))
    virtual.note("", network.responses(.post, "http://other/cart"))
    virtual.note("", network.responses(.query, "/cart", encoding: .json))
    virtual.scheduler.advanceTo(3000)
    virtual.note("", network.responses(.get, "/cart"))
    virtual.scheduler.advanceTo(4000)
    XCTAssertEqual(virtual.stub.requests.filter { $0.method == .get }.count, 1)
  }

  func test_remainingCallers_receiveTheSharedResponseInOrder() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(CoalescingInterceptor())
    let calls = (0..<50).map { virtual.note("\($0) ", network.responses(.get, "/x")) }
    for index in stride(from: 0, to: 50, by: 3) { calls[index].dispose() }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, (0..<50).filter { $0 % 3 != 0 }.map { "\($0) 200 ok @1000" })
  }
}
