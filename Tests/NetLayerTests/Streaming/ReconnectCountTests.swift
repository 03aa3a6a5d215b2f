import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The time at which a connection of an event stream or a WebSocket session has succeeded; in virtual time, whose unit is a millisecond.
final class ReconnectCountTests: XCTestCase {
  private let scheduler = TestScheduler(resolution: .milliseconds(1))
  private let notes = Notes()

  private func policy(attempts: Int, initialDelay: Duration = .seconds(3), maxDelay: Duration = .seconds(60))
    -> RetryPolicy
  {
    RetryPolicy(
      attempts: attempts, initialDelay: initialDelay, maxDelay: maxDelay, jitter: { $0.upperBound },
      scheduler: scheduler)
  }

  // MARK: Events

  /// The times in milliseconds at which a server is called, which sends each text after its time and then ends the stream.
  /// `#` is the number of the call.
  private func calls(
    _ attempts: Int, maxDelay: Duration = .seconds(60), initialDelay: Duration = .seconds(3), for time: Int,
    _ script: [(after: Int, text: String)], end: Int, _ error: NetworkError.Kind? = nil
  ) -> [Int] {
    let transport = ScriptedStream()
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let policy = policy(attempts: attempts, initialDelay: initialDelay, maxDelay: maxDelay)
    let (notes, start) = (notes, scheduler.clock)
    let subscription = network.events(.get("/"), reconnect: policy).subscribe(onError: { error in
      notes.add(NetworkError.wrapping(error).reason)
    })
    var calls: [Int] = []
    while let call = transport.pendingCalls.last, !call.isOver, scheduler.clock - start < time {
      calls.append(scheduler.clock - start)
      call.reply(200, ["Content-Type": "text/event-stream"])
      var now = 0
      for (after, text) in script {
        scheduler.advanceBy(after - now)
        call.send(text.replacing("#", with: "\(calls.count)"))
        now = after
      }
      scheduler.advanceBy(end - now)
      call.end(error)
      let count = transport.pendingCalls.count
      for _ in 0..<700 where transport.pendingCalls.count == count { scheduler.advanceBy(1000) }
    }
    subscription.dispose()
    return calls
  }

  /// Comments for as long as the connection lasts.
  private func comments(until end: Int, every interval: Int = 60_000) -> [(after: Int, text: String)] {
    stride(from: 0, to: end, by: interval).map { ($0, ": ping\n\n") }
  }

  func test_quietServerThatEndsEachHour_isCalledAgainAfterTheFirstDelay() {
    let hour = 3_600_000
    let calls = calls(8, for: 24 * hour, comments(until: hour), end: hour)
    XCTAssertEqual(calls, (0..<24).map { $0 * (hour + 3000) })
    XCTAssertEqual(notes.all, [])
    // F5: a comment each second, and an end after 61 s.
    XCTAssertEqual(self.calls(4, for: 1_800_000, comments(until: 61_000, every: 1000), end: 61_000).count, 29)
    XCTAssertEqual(notes.all, [])
  }

  func test_serverThatGreetsAndEnds_failsAfterTheAttempts() {
    XCTAssertEqual(calls(5, for: 3_600_000, [(0, "data: hello\n\n")], end: 10), [0, 3010, 9020, 21_030, 45_040])
    XCTAssertEqual(notes.all.count, 1)
    // F6: without any delay.
    let busy = calls(3, initialDelay: .zero, for: 600_000, [(0, "retry: 0\ndata: hello\n\n")], end: 10)
    XCTAssertEqual(busy.count, 3)
    // A policy without delays makes no connection successful that brings nothing.
    XCTAssertEqual(calls(3, maxDelay: .zero, for: 600_000, [], end: 10).count, 3)
  }

  func test_serverThatRequestsItsDelay_isPolled() {
    let polled = calls(5, for: 600_000, [(0, "retry: 10000\ndata: x\n\n")], end: 0)
    XCTAssertEqual(polled, (0..<60).map { $0 * 10_000 })
    // A failure is not the end of a poll.
    let failing = calls(5, for: 600_000, [(0, "retry: 10000\ndata: x\n\n")], end: 0, .connection)
    XCTAssertEqual(failing, [0, 10_000, 20_000, 32_000, 56_000])
    XCTAssertEqual(calls(5, for: 600_000, [(0, "retry: 10000\n\n")], end: 0).count, 5, "no event")
    XCTAssertEqual(calls(5, for: 600_000, [(0, "retry: 999\ndata: x\n\n")], end: 0).count, 5, "a short delay")
  }

  func test_eventsFor25Seconds_areASuccess_alsoIfOnlyTheIDMoves() {
    let delay = 28_000
    let events = calls(3, for: 600_000, [(0, "data: x\n\n")], end: 25_000)
    XCTAssertEqual(events, stride(from: 0, to: 600_000, by: delay).map { $0 })
    let failing = calls(3, for: 600_000, [(0, "data: x\n\n")], end: 25_000, .connection)
    XCTAssertEqual(failing, events, "a lost connection has lasted, too")
    let ids = calls(3, for: 600_000, [(0, "id: #\n\n")], end: 25_000)
    XCTAssertEqual(ids, events)
    XCTAssertEqual(calls(3, for: 600_000, comments(until: 25_000, every: 1000), end: 25_000).count, 3, "only comments")
  }

  func test_lastError_statesTheAttempt() {
    _ = calls(1, for: 1000, [(0, "data: a\n\ndata: b\n\n")], end: 10)
    _ = calls(2, for: 100_000, [], end: 10)
    let texts = [1, 2].map {
      "h:80 closed the event stream at attempt \($0), the last one that reconnect allows; check the server, or allow more "
        + "attempts"
    }
    XCTAssertEqual(notes.all, texts)
  }

  // MARK: WebSockets

  /// Returns the events of a session whose sockets all have the same script.
  private func sockets(_ attempts: Int, for time: Int, _ events: [StubTransport.WebSocketScript.Step]) -> (
    opened: Int, end: String?
  ) {
    let virtual = VirtualNetwork(.socket(.init(events)))
    let policy = RetryPolicy(
      attempts: attempts, initialDelay: .seconds(3), maxDelay: .seconds(60), jitter: { $0.upperBound },
      scheduler: virtual.scheduler)
    let end = Box<String?>(nil)
    let subscription = virtual.network().webSocket(Call<Response>.get("/"), reconnect: policy).messages.subscribe(
      onError: { end.value = "\(NetworkError.wrapping($0).kind)" })
    virtual.scheduler.advanceBy(time)
    subscription.dispose()
    return (virtual.paths.count, end.value)
  }

  func test_socketThatGreetsAndCloses_failsAfterTheAttempts() {
    let greets = sockets(5, for: 3_600_000, [.message(.text("hello")), .close(.serviceRestart)])
    XCTAssertEqual(greets.opened, 5)
    XCTAssertEqual(greets.end, "socketClosed")
  }

  func test_socketThatHasLasted_isOpenedAgainAfterTheFirstDelay() {
    let quiet = sockets(3, for: 600_000, [.close(.goingAway, after: .seconds(60))])
    XCTAssertEqual(quiet.opened, 10)
    XCTAssertNil(quiet.end)
    let short = sockets(3, for: 600_000, [.close(.goingAway, after: .seconds(59))])
    XCTAssertEqual(short.opened, 3)
    let talking = sockets(3, for: 79_000, [.message(.text("a")), .failure(.connection, after: .seconds(5))])
    XCTAssertEqual(talking.opened, 10)
    XCTAssertNil(talking.end)
    let brief = sockets(3, for: 80_000, [.message(.text("a")), .failure(.connection, after: .milliseconds(4999))])
    XCTAssertEqual(brief.opened, 3)
  }
}
