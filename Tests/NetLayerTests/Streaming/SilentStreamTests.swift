import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// Streams whose server falls silent: the limit that the caller sets, in the time of the transports, which take no clock.
final class SilentStreamTests: XCTestCase {
  private func transports() -> [any Transport] {
    #if HAS_URLSESSION && !canImport(Darwin)
      [DefaultTransport.make(), URLSessionTransport()]
    #else
      [DefaultTransport.make()]
    #endif
  }

  func test_silence_isPassedToTheTransport_andReconnectsBehindTheLastEvent() throws {
    let (scheduler, transport, notes) = (TestScheduler(resolution: .milliseconds(1)), ScriptedStream(), Notes())
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler))
    let policy = RetryPolicy(
      attempts: 3, initialDelay: .seconds(3), jitter: { $0.upperBound }, scheduler: scheduler)
    let subscription = network.events(
      .get("/events"), silence: .seconds(45), reconnect: policy,
      onReconnect: { error, pause in notes.add("\(error?.kind ?? .other) \(pause)") }
    )
    .subscribe(onNext: { notes.add($0.data) }, onError: { notes.add("\($0)") })
    let first = try XCTUnwrap(transport.pendingCalls.last)
    XCTAssertEqual(first.request.timeouts.idle, .seconds(45))
    XCTAssertEqual(first.request.timeouts.attempt, nil)
    first.reply(200, ["Content-Type": "text/event-stream"])
    scheduler.advanceBy(0)
    first.send("id: 7\ndata: a\n\n")
    scheduler.advanceBy(1)
    first.end(.timeout)
    scheduler.advanceBy(3000)
    let second = try XCTUnwrap(transport.pendingCalls.last)
    XCTAssertEqual(second.request.headers["Last-Event-ID"], "7")
    XCTAssertEqual(second.request.timeouts.idle, .seconds(45))
    XCTAssertEqual(notes.all, ["a", "timeout 3.0 seconds"])
    subscription.dispose()
  }

  func test_events_reconnectAfterSilence_butNotDuringComments() throws {
    for transport in transports() {
      let notes = Notes()
      // Comments for longer than the limit, then nothing.
      let comments = (0..<15).map { _ in TestServer.Response.Chunk(": still here\n\n", after: 0.1) }
      let server = try TestServer { request in
        let isFirst = request.header("Last-Event-ID") == nil
        var response = TestServer.Response.stream(
          [.init(isFirst ? "id: 7\ndata: a\n\n" : "id: 8\ndata: b\n\n")] + (isFirst ? comments : []),
          type: "text/event-stream")
        response.ending = .hang
        if case .chunked(let chunks) = response.body, isFirst {
          // Without the last chunk, the body does not end.
          response.body = .pulled(every: 0.1, Script(chunks.map(\.bytes)).next)
        }
        return response
      }
      defer { server.stop() }
      let network = Network(Backend(baseURL: server.url, transport: transport))
      let events = try network.events(
        .get("/events"), silence: .seconds(1), reconnect: RetryPolicy(attempts: 5, initialDelay: .milliseconds(1)),
        onReconnect: { error, _ in notes.add("\(error.map { "\($0.kind)" } ?? "end")") }
      )
      .take(2).toBlocking(timeout: .seconds(60)).toArray()
      XCTAssertEqual(events.map(\.data), ["a", "b"], "\(transport)")
      XCTAssertEqual(notes.all, ["timeout"], "\(transport)")
      XCTAssertEqual(server.requests.map { $0.header("Last-Event-ID") }, [nil, "7"], "\(transport)")
    }
  }

  func test_linesAndLongPolls_failWithATimeout() throws {
    struct Line: Decodable, Sendable { var a: Int }
    let server = try TestServer { request in
      request.path == "/poll"
        ? .neverResponding
        : TestServer.Response(
          headers: [("Content-Type", "application/x-ndjson")],
          body: .pulled(every: 0.01, Script([Array("{\"a\":1}\n".utf8)]).next))
    }
    defer { server.stop() }
    for transport in transports() {
      let network = Network(
        Backend(baseURL: server.url, transport: transport, timeouts: .init(connect: .seconds(0.2))))
      let lines = network.lines(.get("/lines"), as: Line.self, silence: .seconds(0.3))
      let poll = network.request(.get("/poll").longPoll(.seconds(0.3))).asObservable().map { _ in Line(a: 0) }
      for (source, count) in [(lines, 1), (poll, 0)] {
        let (notes, failure) = (Notes(), Box<NetworkError?>(nil))
        let ending = source.do(onNext: { notes.add("\($0.a)") }).catchError { error in
          failure.value = error as? NetworkError
          return .empty()
        }
        _ = try ending.toBlocking(timeout: .seconds(60)).toArray()
        let known = try XCTUnwrap(failure.value)
        XCTAssertEqual(notes.all.count, count)
        XCTAssertEqual(known.kind, .timeout, known.reason)
        XCTAssert(known.reason.contains("sent no data for") || known.reason.contains("within"), known.reason)
      }
    }
  }

  /// A link that goes down and up again by commands of Tests/Interop/silence: with the limit of the caller, and by TCP keepalive.
  func test_events_reconnectAfterALostLink() throws {
    let environment = ProcessInfo.processInfo.environment
    guard let url = environment["NETLAYER_LINK_URL"].flatMap({ URL(string: $0) }),
      let down = environment["NETLAYER_LINK_DOWN"], let up = environment["NETLAYER_LINK_UP"]
    else { throw XCTSkip("Tests/Interop/silence makes the link") }
    for (silence, limit) in [(Duration.seconds(5), 20.0), (nil, 130.0)] {
      let (events, losses) = (Notes(), Notes())
      let network = Network(Backend(baseURL: url, timeouts: .init(connect: .seconds(2))))
      let subscription = network.events(
        .get("/events"), silence: silence, reconnect: RetryPolicy(attempts: 100, maxDelay: .seconds(1)),
        onReconnect: { error, _ in losses.add("\(error?.kind ?? .other): \(error?.reason ?? "")") }
      )
      .subscribe(onNext: { events.add($0.data) }, onError: { events.add("\($0)") })
      XCTAssertTrue(holds { events.all == ["1 after "] }, "\(events.all)")
      // The server sends a comment each second.
      XCTAssertFalse(holds(within: 7) { !losses.all.isEmpty }, "\(losses.all)")
      let begin = ContinuousClock.now
      try run(down)
      XCTAssertTrue(holds(within: limit) { !losses.all.isEmpty }, "the lost link was not noticed")
      print("noticed after \(ContinuousClock.now - begin): \(losses.all.first ?? "")")
      XCTAssertEqual(losses.all.first?.hasPrefix("timeout"), true, "\(losses.all)")
      try run(up)
      XCTAssertTrue(holds(within: 60) { events.all.count > 1 }, "\(losses.all.suffix(3))")
      XCTAssertEqual(events.all.last, "2 after 1")
      subscription.dispose()
    }
  }

  private func run(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    try process.run()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0, command)
  }

  /// Returns parts one after another, then nothing, without an end.
  private final class Script: Sendable {
    /// Taken out by the server's thread.
    private let parts: Locked<[[UInt8]]>

    init(_ parts: [[UInt8]]) { self.parts = Locked(parts) }

    var next: @Sendable () -> [UInt8]? {
      { self.parts.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
    }
  }
}
