import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The end of a request that has two responses: one from the cache, then the server's.
final class EventMonitorTests: XCTestCase {
  private typealias Plain = CacheFixture.Plain

  /// Returns what a monitor before the cache reports of `calls`, which are made one after the other.
  private func ends(
    _ calls: [CachePolicy], _ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?,
    isDisposed: Bool = false
  ) -> [String] {
    let fixture = CacheFixture(reply)
    let notes = Notes()
    let monitor = EventMonitor { event in
      guard event.kind != .measured else { return }
      notes.add("\(event.kind)" + (event.response.map { " " + String(decoding: $0.body, as: UTF8.self) } ?? ""))
    }
    let network = fixture.network.with { $0.interceptors.insert(monitor, at: 0) }
    for (index, policy) in calls.enumerated() {
      let responses = network.responses(Call(Plain(caching: CacheOptions(policy: policy))))
      if isDisposed, index == calls.count - 1 {
        _ = fixture.run(responses.take(1))
      } else {
        _ = fixture.run(responses)
      }
    }
    return notes.all
  }

  func test_cacheThenNetwork_reportsOnlyTheServersResponse() {
    XCTAssertEqual(
      ends([.networkOnly, .cacheThenNetwork()], CacheFixture.counting([:])),
      ["started", "received 1", "started", "received 2"])
  }

  func test_cacheThenNetwork_reportsAnEqualResponseOnce() {
    XCTAssertEqual(
      ends([.networkOnly, .cacheThenNetwork(skipsEqual: true)]) { _ in .json("7") },
      ["started", "received 7", "started", "received 7"])
  }

  func test_cacheThenNetwork_reportsTheFailureOfTheServer() {
    let count = Counter()
    XCTAssertEqual(
      ends([.networkOnly, .cacheThenNetwork()]) { _ in count.next() == 1 ? .json("1") : .failure(.timeout) },
      ["started", "received 1", "started", "failed"])
  }

  func test_cacheThenNetwork_reportsACancellationAfterTheCachedResponse() {
    XCTAssertEqual(
      ends([.networkOnly, .cacheThenNetwork()], CacheFixture.counting([:]), isDisposed: true),
      ["started", "received 1", "started", "cancelled"])
  }
}
