import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private struct Item: Decodable, Equatable {
  var path: String
}

private struct Get: Endpoint {
  var name: String
  var path: String { name }
}

private struct GetItem: Endpoint {
  typealias Output = Item
  var name: String
  var path: String { name }
}

final class GroupTests: XCTestCase {
  private func network(_ stub: StubTransport) -> Network {
    Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
  }

  /// Responds with the path of the request, `delay` later.
  private static func reply(_ request: Request, after delay: Duration = .zero) -> StubTransport.StubbedResponse {
    .json(#"{"path":"\#(request.url.lastPathComponent)"}"#, after: delay)
  }

  func test_row_1_12_zip_keepsTheOrderOfTheEndpoints() {
    let stub = StubTransport { Self.reply($0, after: $0.url.path == "/a" ? .milliseconds(50) : .zero) }
    let typed = network(stub).zip(["a", "b", "c"].map { GetItem(name: $0) })
    XCTAssertEqual(record(typed).elements, [["a", "b", "c"].map { Item(path: $0) }])
    let models = network(stub).zip([Get(name: "a"), Get(name: "b")], as: Item.self)
    XCTAssertEqual(record(models).elements, [[Item(path: "a"), Item(path: "b")]])
    let texts = network(stub).zip([Get(name: "a")], as: String.self)
    XCTAssertEqual(record(texts).elements, [[#"{"path":"a"}"#]])
    XCTAssertEqual(record(network(stub).zip([GetItem]())).elements, [[]])
  }

  func test_row_1_12_merge_emitsResultsInOrderOfArrival() {
    let stub = StubTransport { Self.reply($0, after: $0.url.path == "/a" ? .milliseconds(100) : .zero) }
    let merged = record(network(stub).merge(["a", "b"].map { GetItem(name: $0) })).elements
    XCTAssertEqual(merged.map(\.path), ["b", "a"])
    XCTAssertEqual(record(network(stub).merge([Get(name: "c")], as: Item.self)).elements, [Item(path: "c")])
  }

  func test_row_1_12_firstFailure_endsTheGroup_andCancelsTheOthers() throws {
    let transport = StubTransport { $0.url.path == "/bad" ? .failure(.timeout) : .never }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: transport))
    let zipped = try failure(of: network.zip(["a", "b", "bad"].map { GetItem(name: $0) }))
    XCTAssertEqual(zipped.kind, .timeout)
    XCTAssertEqual(zipped.index, 2)
    let merged = try failure(of: network.merge(["a", "bad"].map { GetItem(name: $0) }))
    XCTAssertEqual(merged.index, 1)
    let givenUp = XCTNSPredicateExpectation(
      predicate: NSPredicate { _, _ in transport.cancelled.count == 3 }, object: nil)
    wait(for: [givenUp], timeout: 60)
  }

  func test_row_3_13_disposingAGroupOrChain_cancelsRequestsInFlight_andStartsNoOthers() {
    let virtual = VirtualNetwork(.json(#"{"path":"x"}"#, after: .seconds(1)))
    let network = virtual.network()
    let group = network.zip((0..<5).map { GetItem(name: "\($0)") }, maxConcurrent: 2).subscribe()
    let chain = RequestChain(on: network) { GetItem(name: "first") }
      .then { _ in GetItem(name: "second") }.run().subscribe()
    virtual.scheduler.advanceTo(500)
    XCTAssertEqual(virtual.paths, ["/0", "/1", "/first"])
    group.dispose()
    chain.dispose()
    virtual.scheduler.start()
    XCTAssertEqual(virtual.paths.count, 3)
    XCTAssertEqual(record(network.requestsInFlight.take(1)).elements, [0])
  }

  func test_row_0_10_group_boundsCallsInFlight() {
    let stub = StubTransport { Self.reply($0, after: .seconds(0.005)) }
    let network = network(stub)
    let most = Locked(0)
    let counting = network.requestsInFlight.subscribe(onNext: { count in most.withLock { $0 = max($0, count) } })
    defer { counting.dispose() }
    let names = (0..<20).map { "\($0)" }
    let results = record(network.zip(names.map { GetItem(name: $0) }, maxConcurrent: 3)).elements
    XCTAssertEqual(results, [names.map { Item(path: $0) }])
    XCTAssertEqual(most.withLock { $0 }, 3)
  }

  func test_requestsThatAnotherThreadDisposesWhileTheyStartAreCountedInBeforeTheyAreCountedOut() {
    let network = network(StubTransport { Self.reply($0) })
    let least = Locked(0)
    let counting = network.requestsInFlight.subscribe(onNext: { count in least.withLock { $0 = min($0, count) } })
    defer { counting.dispose() }
    let current = Locked<(any Disposable)?>(nil)
    let isOver = Locked(false)
    let done = expectation(description: "disposed")
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) { current.withLock { $0.take() }?.dispose() }
      done.fulfill()
    }
    for _ in 0..<7000 {
      let stop = PublishSubject<Int>()
      current.withLock { $0 = Disposables.create { stop.onNext(1) } }
      _ = network.request(GetItem(name: "a")).asObservable().takeUntil(stop).subscribe()
    }
    isOver.withLock { $0 = true }
    wait(for: [done], timeout: 20)
    XCTAssertEqual(least.withLock { $0 }, 0)
  }

  func test_row_1_15_differentModels_areZippedIntoATuple() throws {
    let stub = StubTransport { Self.reply($0) }
    let network = network(stub)
    let zipped = Single.zip(
      network.request(GetItem(name: "a")), network.request(Get(name: "b"), as: String.self),
      network.request(Get(name: "c"), as: JSON.self), network.request(Get(name: "d"), as: Data.self))
    let (item, text, json, data) = try XCTUnwrap(record(zipped).elements.first)
    XCTAssertEqual(item, Item(path: "a"))
    XCTAssertEqual(text, #"{"path":"b"}"#)
    XCTAssertEqual(json["path"].string, "c")
    XCTAssertEqual(data.count, 12)
  }

  func test_row_0_15_severalRequests_runConcurrentlyAfterOne() throws {
    let stub = StubTransport { Self.reply($0) }
    let network = network(stub)
    let location = Observable.just("here")
    let screen = location.flatMap { place in
      Observable.zip(network.request(GetItem(name: place)), network.request(GetItem(name: "weather")))
    }
    let (place, weather) = try XCTUnwrap(record(screen).elements.first)
    XCTAssertEqual([place.path, weather.path], ["here", "weather"])
    let broken = location.flatMap { place in
      Observable.zip(network.request(GetItem(name: place)), network.request(GetItem(name: "../x")))
    }
    XCTAssertEqual(try failure(of: broken).kind, .invalidRequest)
  }

  func test_row_3_17_streamOfEndpoints_isCalledInOrderOfArrival() {
    let stub = StubTransport { Self.reply($0) }
    let network = network(stub)
    let taps = PublishSubject<GetItem>()
    let names = Notes()
    let done = expectation(description: "done")
    let subscription = taps.request(on: network).subscribe(
      onNext: { names.add($0.path) }, onCompleted: { done.fulfill() })
    defer { subscription.dispose() }
    taps.onNext(GetItem(name: "a"))
    taps.onNext(GetItem(name: "b"))
    taps.onCompleted()
    wait(for: [done], timeout: 60)
    XCTAssertEqual(Set(names.all), ["a", "b"])
    let plain = Observable.of(Get(name: "x")).request(on: network).map { $0.status }
    XCTAssertEqual(record(plain).elements, [200])
  }
}
