import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

final class CoalescingInterceptorTests: XCTestCase {
  func test_row_3_14_identicalRequestsInFlight_areSentOnce() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(CoalescingInterceptor())
    virtual.note("a ", network.responses(.get, "/x", parameters: ["p": 1, "q": 2]))
    virtual.scheduler.advanceTo(500)
    virtual.note("b ", network.responses(.get, "/x", parameters: ["q": 2, "p": 1]))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["a 200 ok @1000", "b 200 ok @1000"])
    XCTAssertEqual(virtual.stub.requests.count, 1)
    virtual.note("c ", network.responses(.get, "/x", parameters: ["p": 1, "q": 2]))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 2, "what has ended is not shared")
  }

  func test_row_3_14_networksWithDifferentTransports_areDifferentUsers() {
    let virtual = VirtualNetwork(.json("ann", after: .seconds(1)))
    let ann = virtual.network(CoalescingInterceptor(window: .seconds(10)))
    func stub() -> StubTransport { StubTransport(on: virtual.scheduler) { _ in .json("bob", after: .seconds(1)) } }
    let bob = stub()
    virtual.note("a ", ann.responses(.get, "/x"))
    virtual.note("b ", ann.with { $0.transport = bob }.responses(.get, "/x"))
    // The same object is the same user, in another network, too.
    virtual.note("b ", ann.with { $0.transport = bob }.responses(.get, "/x"))
    virtual.note(
      "a ",
      ann.with { $0.timeouts.attempt = .seconds(9) }.with { $0.timeouts = Backend().timeouts }.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.notes.all.sorted(), ["a 200 ann @1000", "a 200 ann @1000", "b 200 bob @1000", "b 200 bob @1000"])
    XCTAssertEqual(bob.requests.count, 1)
    // The number of a transport is not used again, unlike its address.
    for _ in 0..<100 {
      let next = stub()
      virtual.note("", ann.with { $0.transport = next }.responses(.get, "/x"))
      virtual.scheduler.advanceBy(2000)
      XCTAssertEqual(next.requests.count, 1)
    }
  }

  func test_row_3_14_requestThatIsSentAgainByItsFailure_isNotSharedWithTheFailedOne() {
    let count = Box(0)
    let virtual = VirtualNetwork { _ in
      count.update { $0 += 1 }
      return count.value == 1 ? .failure(.timeout, after: .seconds(1)) : .json("ok", after: .seconds(1))
    }
    let network = virtual.network(CoalescingInterceptor())
    _ = network.responses(.get, "/x").subscribe(
      onNext: { _ in XCTFail("the first one fails") },
      onError: { _ in virtual.note("again ", network.responses(.get, "/x")) })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["again 200 ok @2000"])
  }

  func test_row_3_14_differentRequests_areNotShared() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(CoalescingInterceptor())
    virtual.note("", network.responses(.get, "/x"))
    virtual.note("", network.responses(.head, "/x"))
    virtual.note("", network.responses(.get, "/x", parameters: ["a": 1]))
    virtual.note("", network.responses(.get, "/x", headers: ["Accept-Language": "zh"]))
    virtual.note("", network.responses(.post, "/x"))
    virtual.note("", network.responses(.post, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 6)
  }

  func test_row_3_14_sharedRequest_isCancelled_whenTheLastCallerDisposes() {
    let transport = StubTransport { _ in .never }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, interceptors: [CoalescingInterceptor()]))
    let first = network.responses(.get, "/x").subscribe(onError: { _ in })
    let second = network.responses(.get, "/x").subscribe(onError: { _ in })
    first.dispose()
    XCTAssertEqual(transport.cancelled.count, 0)
    second.dispose()
    XCTAssertEqual(transport.cancelled.count, 1)
    XCTAssertEqual(transport.requests.count, 1)
    network.responses(.get, "/x").subscribe(onError: { _ in }).dispose()
    XCTAssertEqual(transport.requests.count, 2, "an early cancel leaves nothing behind")
  }

  func test_row_3_14_error_reachesAllCallers_andIsNotStored() {
    let virtual = VirtualNetwork(.sequence([.failure(.timeout, after: .seconds(1)), .json("ok")]))
    let network = virtual.network(CoalescingInterceptor(window: .seconds(10)))
    virtual.note("a ", network.responses(.get, "/x"))
    virtual.note("b ", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(2000)
    virtual.note("c ", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["a timeout @1000", "b timeout @1000", "c 200 ok @2000"])
  }

  func test_row_3_14_requestWithinTheWindow_receivesTheLastResponse() {
    let virtual = VirtualNetwork(.sequence([.json("1", after: .seconds(1)), .json("2", after: .seconds(1))]))
    let network = virtual.network(CoalescingInterceptor(window: .seconds(2)))
    for time in [0, 1001, 2999, 3001, 3500] {
      virtual.scheduler.scheduleAt(time) { virtual.note("", network.responses(.get, "/x")) }
    }
    virtual.scheduler.start()
    XCTAssertEqual(
      virtual.notes.all, ["200 1 @1000", "200 1 @1001", "200 1 @2999", "200 2 @4001", "200 2 @4001"])
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_aResponseOfAUserWhoSignedInMeanwhile_isNotReusedWithoutAUser() throws {
    let virtual = VirtualNetwork { request in
      request.headers["Authorization"].map { .json($0) } ?? .json("", status: 401)
    }
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], refresh: { _ in .just(Token(access: "bert")) })
    let network = virtual.network(CoalescingInterceptor(window: .seconds(10)), authentication)
    virtual.note("bert: ", network.responses(.get, "/me"))
    virtual.scheduler.advanceTo(100)
    authentication.set(nil)
    virtual.note("nobody: ", network.responses(.get, "/me"))
    virtual.scheduler.advanceTo(200)
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["Authorization"] }.prefix(3), [nil, "Bearer bert", nil])
  }

  func test_row_3_14_response_isNotSharedWithAnotherUser() throws {
    let virtual = VirtualNetwork { .json($0.headers["Authorization"] ?? "none", after: .seconds(1)) }
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "anna")),
      refresh: { _ in throw TestError() })
    let network = virtual.network(
      CoalescingInterceptor(window: .seconds(10)), authentication)
    virtual.note("anna: ", network.responses(.get, "/me"))
    virtual.scheduler.advanceTo(500)
    authentication.set(Token(access: "bert"))
    virtual.note("bert: ", network.responses(.get, "/me"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["anna: 200 Bearer anna @1000", "bert: 200 Bearer bert @1500"])
    let user = Locked("a")
    let own = virtual.network(CoalescingInterceptor(account: { _ in user.withLock { $0 } }))
    virtual.note("", own.responses(.get, "/other"))
    user.withLock { $0 = "b" }
    virtual.note("", own.responses(.get, "/other"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.paths.filter { $0 == "/other" }.count, 2)
  }

  func test_row_3_14_responseWithinTheWindow_arrivesOnTheMappingScheduler() {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(CoalescingInterceptor(window: .seconds(10)))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceBy(1)
    virtual.note("", network.responses(.get, "/x"))
    XCTAssertEqual(virtual.notes.all.count, 1)
    virtual.scheduler.advanceBy(1)
    XCTAssertEqual(virtual.notes.all.count, 2)
  }

  func test_row_3_14_requestSentOnAResponse_isNotCoalescedWithIt() {
    let virtual = VirtualNetwork(.sequence([.json("1"), .json("2")]))
    let network = virtual.network(CoalescingInterceptor())
    virtual.note("", network.responses(.get, "/x").flatMap { _ in network.responses(.get, "/x") })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 2 @0"])
  }

  func test_row_3_14_requestThatCannotBeBuilt_leavesNothingBehind() {
    let virtual = VirtualNetwork(.json("ok"))
    let fails = Locked(true)
    let network = virtual.network(CoalescingInterceptor()).with { backend in
      backend.commonParameters = { fails.withLock { $0 } ? ["x": Double.nan] : [:] }
    }
    virtual.note("", network.responses(.get, "/x", encoding: .json))
    virtual.note("", network.responses(.post, "/x", encoding: .json))
    virtual.scheduler.start()
    fails.withLock { $0 = false }
    virtual.note("", network.responses(.get, "/x", encoding: .json))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "200 ok @0")
  }

  func test_row_3_14_sharedRequest_survives_when999Of1000ThreadsDispose() {
    let transport = StubTransport { _ in .never }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, interceptors: [CoalescingInterceptor()]))
    let stays = network.responses(.get, "/x").subscribe(onError: { _ in })
    DispatchQueue.concurrentPerform(iterations: 999) { _ in
      network.responses(.get, "/x").subscribe(onError: { _ in }).dispose()
    }
    XCTAssertEqual(transport.cancelled.count, 0)
    XCTAssertEqual(transport.requests.count, 1)
    stays.dispose()
    XCTAssertEqual(transport.cancelled.count, 1)
  }

  func test_row_3_14_response_reachesAThousandCallersOnThreads() {
    let transport = StubTransport { _ in .json("ok") }
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, interceptors: [CoalescingInterceptor()]))
    let all = Observable.range(start: 0, count: 1000)
      .flatMap { _ in network.responses(.get, "/x").subscribeOn(ConcurrentDispatchQueueScheduler(qos: .utility)) }
    XCTAssertEqual(record(all).elements.count, 1000)
    XCTAssertLessThanOrEqual(transport.requests.count, 1000)
  }

  func test_remainingCallers_areServedInOrder_whenOneDisposes() {
    for leaver in 0..<5 {
      let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
      let network = virtual.network(CoalescingInterceptor())
      let calls = (0..<5).map { virtual.note("\($0) ", network.responses(.get, "/x")) }
      calls[leaver].dispose()
      virtual.note("late ", network.responses(.get, "/x"))
      virtual.scheduler.start()
      let rest = (0..<5).filter { $0 != leaver }.map { "\($0)" } + ["late"]
      XCTAssertEqual(virtual.notes.all, rest.map { "\($0) 200 ok @1000" })
      XCTAssertEqual(virtual.stub.requests.count, 1)
    }
  }

  func test_callsWithRulesForStorage_areNotShared() {
    let virtual = VirtualNetwork(.json("ok", after: .seconds(1)))
    let network = virtual.network(CoalescingInterceptor())
    for isAllowed in [true, false] {
      let options = CacheOptions(allowsStorage: { _ in isAllowed })
      virtual.note("", network.responses(Call(.get, "/x", caching: options)))
    }
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 2)
  }

  func test_callsWithDifferentPolicies_areNotShared() {
    let fixture = CacheFixture(CacheFixture.counting([:]))
    let network = fixture.network.with { $0.interceptors.insert(CoalescingInterceptor(), at: 0) }
    let calls = [CachePolicy.networkOnly, .networkOnly, .cacheOnly].map { policy in
      network.responses(Call(CacheFixture.Plain(caching: CacheOptions(policy: policy)))).map {
        String(decoding: $0.body, as: UTF8.self)
      }
      .catchErrorJustReturn("none")
    }
    let observer = fixture.scheduler.createObserver([String].self)
    let subscription = Observable.zip(calls).subscribe(observer)
    fixture.scheduler.start()
    subscription.dispose()
    XCTAssertEqual(observer.events.compactMap(\.value.element), [["1", "1", "none"]])
  }
}
