import Foundation
import HTTPTransport
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

/// Tests of stubbed sockets and of requests that end early, in virtual time.
final class StubWebSocketTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let notes = Notes()

  private func stub(_ reply: StubTransport.StubbedResponse) -> StubTransport {
    StubTransport(on: scheduler) { [notes] _ in
      notes.add("request")
      return reply
    }
  }

  private func url(_ text: String = "https://api.example/room") throws -> URL { try XCTUnwrap(URL(string: text)) }

  private func connect(
    _ stub: StubTransport, reply: @escaping @Sendable (WebSocketMessage) -> BodyFlow = { _ in .continue }
  ) throws -> any WebSocketControl {
    let (notes, scheduler) = (notes, scheduler)
    @Sendable func note(_ event: String) { notes.add("\(scheduler.clock) \(event)") }
    return stub.connect(
      Request(url: try url()), options: WebSocketOptions(),
      receiver: WebSocketReceiver(
        response: { note("open \($0.status)") },
        message: { message in
          note("\(message)")
          return reply(message)
        },
        closed: { result in
          switch result {
          case .success(let close): note("closed \(close.code.rawValue) \(close.reason)")
          case .failure(let error): note("\(error.kind)")
          }
        }))
  }

  private typealias Step = StubTransport.WebSocketScript.Step

  private func script(_ steps: [Step]) -> StubTransport.StubbedResponse {
    .socket(.init(steps) { [.message($0, after: .seconds(1))] }, after: .seconds(2))
  }

  func test_stepsArePlayedAtTheirTimes() throws {
    let socket = try connect(
      stub(script([.message(.text("a")), .message(.text("b"), after: .seconds(3)), .close(.normal, reason: "r")])))
    scheduler.start()
    socket.send(.text("late")) { [notes] in notes.add("\($0?.kind.rawValue ?? "sent")") }
    scheduler.start()
    XCTAssertEqual(
      notes.all,
      ["request", "2 open 101", "2 \(WebSocketMessage.text("a"))", "5 \(WebSocketMessage.text("b"))"]
        + ["5 closed 1000 r", "connection"])
  }

  func test_messagesBeforeTheOpeningAreRefused_andLaterOnesGetAResponse() throws {
    let socket = try connect(stub(script([])))
    let notes = notes
    socket.send(.text("early")) { notes.add("\($0?.kind.rawValue ?? "sent")") }
    scheduler.advanceTo(4)
    socket.send(.text("a")) { notes.add("\($0?.kind.rawValue ?? "sent")") }
    scheduler.start()
    XCTAssertEqual(notes.all, ["request", "connection", "2 open 101", "sent", "5 \(WebSocketMessage.text("a"))"])
  }

  func test_aPausedSocketKeepsItsMessages() throws {
    let socket = try connect(
      stub(script([.message(.text("a")), .message(.text("b")), .message(.text("c")), .close(.normal)]))
    ) { $0 == .text("b") ? .pause : .continue }
    scheduler.start()
    XCTAssertEqual(notes.all.count, 4, "\(notes.all)")
    socket.resume()
    scheduler.start()
    XCTAssertEqual(Array(notes.all.dropFirst(4)), ["2 \(WebSocketMessage.text("c"))", "2 closed 1000 "])
  }

  /// Nothing is left on the scheduler, whose clock would else advance to it.
  func test_endedSocket_leavesNothingToRun() throws {
    let steps: [Step] = [.message(.text("a"), after: .seconds(100)), .message(.text("b"), after: .seconds(1000))]
    for (name, end) in [
      ("closed 1000 bye", { $0.close(.normal, reason: "bye") }), ("cancelled", { $0.dispose() }),
    ] as [(String, (any WebSocketControl) -> Void)] {
      let (begin, count) = (scheduler.clock, notes.all.count)
      let socket = try connect(stub(script(steps)))
      scheduler.advanceBy(5)
      end(socket)
      scheduler.start()
      XCTAssertEqual(
        Array(notes.all.dropFirst(count)), ["request", "\(begin + 2) open 101", "\(begin + 5) \(name)"])
      XCTAssertEqual(scheduler.clock, begin + 5, name)
    }
  }

  func test_socketThatIsDisposedBeforeTheOpening_sendsAndReceivesNothing() throws {
    try connect(stub(script([]))).dispose()
    scheduler.start()
    XCTAssertEqual(notes.all, ["0 cancelled"])
    let waiting = try connect(stub(script([])))
    scheduler.advanceTo(1)
    waiting.dispose()
    waiting.dispose()
    scheduler.start()
    XCTAssertEqual(notes.all, ["0 cancelled", "request", "1 cancelled"])
    XCTAssertEqual(scheduler.clock, 1)
  }

  func test_failuresOfASocket() throws {
    _ = try connect(stub(.socket(.init([.failure(.timeout), .message(.text("a"))]))))
    _ = try connect(stub(.json("{}", status: 403)))
    _ = try connect(stub(.failure(.tls)))
    _ = try connect(StubTransport([], on: scheduler))
    scheduler.start()
    XCTAssertEqual(
      notes.all,
      ["request", "0 open 101", "0 timeout", "request", "0 open 403", "0 status", "request", "0 tls", "0 connection"])
  }

  func test_cancelledRequest_leavesNothingToRun() throws {
    let stub = stub(.json("1", after: .seconds(9)))
    let request = Request(url: try url("https://api.example/"))
    for delay in [0, 4] {
      let begin = scheduler.clock
      let call = stub.send(request) { [notes] in notes.add(($0.map { _ in "response" }).description) }
      if delay > 0 { scheduler.advanceBy(delay) }
      call.dispose()
      call.dispose()
      scheduler.start()
      XCTAssertEqual(scheduler.clock, begin + delay)
    }
    XCTAssertEqual(notes.all, ["cancelled", "request", "cancelled"], "the first one was not sent")
    XCTAssertEqual(stub.cancelled.count, 2)
  }

  func test_progressIsReportedBeforeTheResponse() throws {
    let reports = [1, 2].map { TransferProgress(received: $0) }
    let notes = notes
    for reply in [
      StubTransport.StubbedResponse.json("123", after: .seconds(5)).reporting(reports, every: .seconds(2)),
      .json("123", after: .seconds(5)), .failure(.timeout).reporting(reports),
    ] {
      let begin = scheduler.clock
      _ = stub(reply).send(Request(url: try url("https://api.example/"))) { [scheduler] in
        notes.add("\(scheduler.clock - begin) \($0.received)")
      } completion: { [scheduler] in
        notes.add("\(scheduler.clock - begin) \(($0.map { _ in "response" }).description)")
      }
      scheduler.start()
    }
    XCTAssertEqual(
      notes.all,
      ["request", "2 1", "4 2", "9 response", "request", "5 3", "5 response", "request", "0 1", "0 2", "0 timeout"])
  }
}

extension Result<String, NetworkError> {
  fileprivate var description: String {
    switch self {
    case .success(let text): text
    case .failure(let error): error.kind.rawValue
    }
  }
}
