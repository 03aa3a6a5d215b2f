import Foundation
import HTTPTransport
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer

private struct Switch: Reachability {
  let state: BehaviorRelay<Bool>
  var isReachable: Observable<Bool> { state.asObservable() }
}

final class ReachabilityTests: XCTestCase {
  func test_row_3_11_request_startsWhenANetworkIsAvailable() {
    let virtual = VirtualNetwork(.json("ok"))
    let state = BehaviorRelay(value: false)
    let network = virtual.network(ReachabilityInterceptor(Switch(state: state)))
    virtual.note("", network.responses(.post, "/x"))
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(virtual.paths, [])
    state.accept(true)
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @5000"])
  }

  func test_row_3_11_wait_endsAtTheLimitWithAnError() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(
      ReachabilityInterceptor(Switch(state: BehaviorRelay(value: false)), maxWait: .seconds(3)))
    let errors = Locked<[NetworkError]>([])
    _ = network.responses(.get, "/x").subscribe(onError: { error in
      errors.withLock { $0.append(NetworkError.wrapping(error)) }
    })
    virtual.scheduler.start()
    let error = try XCTUnwrap(errors.withLock { $0 }.first)
    XCTAssertEqual(error.kind, .connection)
    XCTAssertTrue(error.reason.contains("no network was available for 3.0 seconds"), error.reason)
    XCTAssertEqual(error.request?.url.path, "/x")
    XCTAssertEqual(virtual.scheduler.clock, 3000)
  }

  func test_row_3_11_requestThatFailsOffline_isResentWhenOnline() {
    for (method, expected) in [(HTTPMethod.get, ["200 ok @9000"]), (.post, ["connection @1000"])] {
      let virtual = VirtualNetwork(.sequence([.failure(.connection, after: .seconds(1)), .json("ok")]))
      let state = BehaviorRelay(value: true)
      virtual.scheduler.scheduleAt(500) { state.accept(false) }
      virtual.scheduler.scheduleAt(9000) { state.accept(true) }
      let network = virtual.network(ReachabilityInterceptor(Switch(state: state)))
      virtual.note("", network.responses(method, "/x"))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, expected, "\(method)")
      XCTAssertEqual(
        virtual.stub.requests.map(\.wasSentBefore), method == .get ? [false, true] : [false],
        "a response to the second request may be about the first")
    }
  }

  func test_row_3_11_bodyThatCanBeSentOnlyOnce_isNotResentWhenOnline() {
    for (body, expected) in [
      (Request.BodyStream(once: { nil }), ["connection @1000"]), (.init(open: { { nil } }), ["200 ok @9000"]),
    ] {
      let virtual = VirtualNetwork(.sequence([.failure(.connection, after: .seconds(1)), .json("ok")]))
      let state = BehaviorRelay(value: true)
      virtual.scheduler.scheduleAt(500) { state.accept(false) }
      virtual.scheduler.scheduleAt(9000) { state.accept(true) }
      let network = virtual.network(ReachabilityInterceptor(Switch(state: state)))
      virtual.note("", network.responses(Call.put("/x", .stream(body))))
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, expected)
    }
  }

  func test_row_3_11_errorThatIsNotTransient_isNotResentWhenOnline() {
    let virtual = VirtualNetwork(.sequence([.failure(.tls, after: .seconds(1)), .json("ok")]))
    let state = BehaviorRelay(value: true)
    virtual.scheduler.scheduleAt(500) { state.accept(false) }
    virtual.scheduler.scheduleAt(9000) { state.accept(true) }
    let network = virtual.network(ReachabilityInterceptor(Switch(state: state)))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["tls @1000"])
  }

  func test_row_3_11_unreachableServer_isNotAMissingNetwork() {
    let virtual = VirtualNetwork(.failure(.connection))
    let network = virtual.network(
      ReachabilityInterceptor(Switch(state: BehaviorRelay(value: true))))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["connection @0"])
  }

  func test_loopback_needsNoNetwork() {
    let virtual = VirtualNetwork(.json("ok"))
    let network = virtual.network(
      ReachabilityInterceptor(Switch(state: BehaviorRelay(value: false))))
    for url in ["http://localhost/x", "http://127.0.0.1:81/x", "http://[::1]/x", "http://127.evil.com/x"] {
      virtual.note("", network.responses(.get, url))
    }
    virtual.scheduler.advanceTo(1)
    XCTAssertEqual(virtual.notes.all, ["200 ok @0", "200 ok @0", "200 ok @0"])
  }

  func test_systemReachability_doesNotMatterForTheLocalMachine() throws {
    func states(_ url: String, _ transport: (any Transport)? = nil, _ monitor: any Reachability) throws -> [Bool] {
      try monitor.isReachable(XCTUnwrap(URL(string: url)), by: transport).toBlocking(timeout: .seconds(5)).toArray()
    }
    let offline = SystemReachability(fixed: false)
    for (url, isReachable) in [
      ("http://127.0.0.1:8080/a", true), ("http://localhost", true), ("http://[::1]:1/", true),
      ("http://192.0.2.1/", false), ("https://api.test/", false),
    ] {
      XCTAssertEqual(try states(url, nil, offline), [isReachable], url)
      XCTAssertEqual(try states(url, nil, SystemReachability(fixed: true)), [true], url)
      XCTAssertEqual(try states(url, nil, CustomMonitor()), [false], "a custom monitor decides itself")
    }
    #if canImport(CLibcurl)
      let transport = try CurlTransport(.init(addresses: ["socket.test": .unixSocket(path: "/run/socket")]))
      XCTAssertEqual(try states("http://socket.test/", transport, offline), [true])
      XCTAssertEqual(try states("http://other.test/", transport, offline), [false])
    #endif
  }

  private struct CustomMonitor: Reachability {
    var isReachable: Observable<Bool> { .just(false) }
  }

  func test_systemReachability_emitsImmediately() {
    XCTAssertEqual(record(SystemReachability().isReachable.take(1)).elements.count, 1)
  }
}
