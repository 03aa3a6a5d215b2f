import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Senders of a socket and the bytes that its transport has not written yet.
final class WebSocketLinkTests: XCTestCase {
  /// A transport that writes a message when the test says so.
  private final class SlowControl: WebSocketControl {
    let waiting = Box<[@Sendable (NetworkError?) -> Void]>([])

    func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
      waiting.update { $0.append(completion) }
    }
    func write(_ error: NetworkError? = nil) {
      let completion = waiting.value[0]
      waiting.update { _ = $0.removeFirst() }
      completion(error)
    }
    func close(_ code: CloseCode, reason: String) {}
    func resume() {}
    func dispose() {}
  }

  private func attached() -> (WebSocketLink, SlowControl) {
    let (link, control) = (WebSocketLink(ImmediateScheduler.instance), SlowControl())
    link.messages.attach(control)
    return (link, control)
  }

  private static let kilobyte = WebSocketMessage.binary(Data(count: 1 << 10))

  func test_sendersWaitWhile64KBAreUnwritten() {
    for isTask in [true, false] {
      let (link, control) = attached()
      let completed = Counter()
      for _ in 0..<100 { link.send(Self.kilobyte, isTask: isTask) { _ = $0 == nil ? completed.next() : 0 } }
      XCTAssertEqual(control.waiting.value.count, 100, "the transport has all of them")
      let early = completed.value
      XCTAssertGreaterThan(early, 50, "as a task: \(isTask)")
      XCTAssertLessThanOrEqual(early, 64, "as a task: \(isTask)")
      for written in 1...100 {
        control.write()
        XCTAssertEqual(completed.value, max(early, written), "each waits for its own bytes, isTask \(isTask)")
      }
      link.send(Self.kilobyte, isTask: isTask) { _ in completed.next() }
      XCTAssertEqual(completed.value, 101, "there is room again")
    }
  }

  func test_aMessageThatTheTransportRejectsAfterTheServersCloseFailsWithItsCode() {
    let (link, control) = attached()
    let errors = Box<[NetworkError?]>([])
    link.send(.binary(Data(count: 1 << 20))) { error in errors.update { $0.append(error) } }
    link.messages.end(with: .success(WebSocketClose(code: CloseCode(4003))))
    control.write(NetworkError(kind: .connection, reason: "not open"))
    XCTAssertEqual(errors.value.map { $0?.kind }, [.socketClosed])
    XCTAssertEqual(errors.value.map { $0?.code }, [4003])
  }

  /// A transport that opens, and possibly closes, the socket before `connect` returns.
  private struct EarlyTransport: WebSocketTransport {
    let control: SlowControl
    let end: Result<WebSocketClose, NetworkError>?

    func send(
      _ request: Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable { Disposables.create() }

    func connect(_ request: Request, options: WebSocketOptions, receiver: WebSocketReceiver) -> any WebSocketControl {
      receiver.response(Response(request: request, status: 101))
      _ = receiver.message(.text("first"))
      if let end { receiver.closed(end) }
      return control
    }
  }

  func test_messagesThatAreSentBeforeTheTransportHasReturnedItsControlAreSent() throws {
    let control = SlowControl()
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: EarlyTransport(control: control, end: nil),
        mapping: ImmediateScheduler.instance))
    let failures = Notes()
    let sockets = Box<[WebSocket]>([])
    _ = network.openSocket(CallContent(.get, "/"), WebSocketOptions()).subscribe(onSuccess: { socket in
      sockets.update { $0.append(socket) }
      socket.link.send(.text("hello")) { if let error = $0 { failures.add("\(error)") } }
    })
    XCTAssertEqual(control.waiting.value.count, 1)
    XCTAssertEqual(failures.all, [])
    XCTAssertEqual(sockets.value.count, 1)
  }

  func test_socketThatEndsBeforeTheTransportHasReturnedItsControlDeliversItsMessagesAndTheEnd() async throws {
    for end in [
      Result.success(WebSocketClose(code: .normal)), .failure(NetworkError(kind: .connection, reason: "lost")),
    ] {
      let network = Network(
        Backend(
          baseURL: URL(string: "http://h"), transport: EarlyTransport(control: SlowControl(), end: end),
          mapping: ImmediateScheduler.instance))
      let notes = Notes()
      do {
        try await network.withWebSocket(.get("/")) { socket in
          for try await message in socket.messages { notes.add("\(message)") }
          notes.add("end")
        }
      } catch {
        notes.add((error as? NetworkError).map { "\($0.kind)" } ?? "\(error)")
      }
      XCTAssertEqual(notes.all.count, 2, "\(notes.all)")
      XCTAssertEqual(notes.all.last, (try? end.get()) == nil ? "connection" : "end")
    }
  }

  func test_aLongMessageWaitsForItself() {
    let (link, control) = attached()
    let completed = Counter()
    link.send(.binary(Data(count: 1 << 17)), isTask: true) { _ in completed.next() }
    XCTAssertEqual(completed.value, 0)
    control.write()
    XCTAssertEqual(completed.value, 1)
  }

  func test_behindALostMessageEachSenderGetsItsOwnError() {
    let (link, control) = attached()
    let kinds = Box<[NetworkError.Kind?]>([])
    link.send(.text("early"), isTask: true) { error in kinds.update { $0.append(error?.kind) } }
    control.write(NetworkError(kind: .connection, reason: "lost"))
    XCTAssertEqual(kinds.value, [nil], "a completed message is lost with the connection")
    link.send(.text("late"), isTask: true) { error in kinds.update { $0.append(error?.kind) } }
    XCTAssertEqual(kinds.value, [nil])
    control.write(NetworkError(kind: .socketClosed, reason: "closed"))
    XCTAssertEqual(kinds.value, [nil, .socketClosed])
  }
}
