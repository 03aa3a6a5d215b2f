import Foundation
import HTTPTransport
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

final class StubStreamTests: XCTestCase {
  private let scheduler = TestScheduler()
  private let log = Log()

  private final class Log: Sendable {
    private let kept = Locked<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    /// The lines without their times.
    var events: [String] { lines.map { String($0.split(separator: " ", maxSplits: 1)[1]) } }
    func append(_ line: String) { kept.withLock { $0.append(line) } }
  }

  private func start(
    _ transport: any Transport, reply: @escaping @Sendable (Data) -> BodyFlow = { _ in .continue }
  ) throws -> any StreamControl {
    let url = try XCTUnwrap(URL(string: "https://api.example/events"))
    let (log, scheduler) = (log, scheduler)
    @Sendable func note(_ event: String) { log.append("\(scheduler.clock) \(event)") }
    return transport.stream(
      Request(url: url), progress: nil,
      receiver: StreamReceiver(
        head: { note("head \($0.status)") },
        chunk: { data in
          note(String(decoding: data, as: UTF8.self))
          return reply(data)
        },
        completion: { result in
          switch result {
          case .success(let response): note("end \(response.status) \(response.body.count)")
          case .failure(let error): note("\(error.kind)")
          }
        }))
  }

  private func stub(_ reply: StubTransport.StubbedResponse) -> StubTransport {
    StubTransport(on: scheduler) { _ in reply }
  }

  private let fragments = ["a", "b", "c"].map { Data($0.utf8) }

  func test_chunksAreDeliveredOneAfterAnother() throws {
    _ = try start(stub(.chunks(fragments, every: .seconds(2))))
    scheduler.start()
    XCTAssertEqual(log.lines, ["0 head 200", "2 a", "4 b", "6 c", "6 end 200 0"])
  }

  func test_aFailureFollowsTheChunks() throws {
    _ = try start(stub(.chunks(fragments, failing: .connection)))
    scheduler.start()
    XCTAssertEqual(log.events, ["head 200", "a", "b", "c", "connection"])
  }

  func test_anyOtherResponseIsOneChunk() throws {
    _ = try start(stub(.json("{}", status: 201, after: .seconds(3))))
    scheduler.start()
    XCTAssertEqual(log.events, ["head 201", "{}", "end 201 0"])
  }

  func test_withoutStreamingTheCompleteBodyIsDeliveredAtTheEnd() throws {
    let log = log
    let scheduler = scheduler
    let request = Request(url: try XCTUnwrap(URL(string: "https://api.example/events")))
    _ = stub(.chunks(fragments, every: .seconds(2))).send(request) { result in
      let text = (try? result.get().body).map { String(decoding: $0, as: UTF8.self) }
      log.append("\(scheduler.clock) \(text ?? "")")
    }
    scheduler.start()
    XCTAssertEqual(log.lines, ["6 abc"])
  }

  func test_aPauseDelaysTheNextChunk() throws {
    let control = try start(stub(.chunks(fragments))) { _ in .pause }
    scheduler.start()
    XCTAssertEqual(log.lines.count, 2)
    control.resume()
    control.resume()
    scheduler.start()
    XCTAssertEqual(log.lines.count, 3)
    control.resume()
    scheduler.start()
    control.resume()
    scheduler.start()
    XCTAssertEqual(log.events, ["head 200", "a", "b", "c", "end 200 0"])
  }

  func test_manyChunksDoNotGrowTheStack() throws {
    let pending = PendingStream(self)
    let reply = StubTransport.StubbedResponse.chunks([Data](repeating: Data([1]), count: 100_000))
    pending.start(
      Request(url: try XCTUnwrap(URL(string: "https://api.example/"))), on: StubTransport { _ in reply })
    _ = try pending.outcome().get()
    XCTAssertEqual(pending.chunks, 100_000)
  }

  func test_disposingFailsWithCancelledAndIsRecordedOnce() throws {
    let stub = stub(.chunks(fragments, every: .seconds(2)))
    let control = try start(stub)
    scheduler.advanceTo(3)
    control.dispose()
    control.dispose()
    scheduler.start()
    XCTAssertEqual(log.events, ["head 200", "a", "cancelled"])
    XCTAssertEqual(stub.cancelled.map(\.url.path), ["/events"])
    let whole = try start(stub)
    scheduler.start()
    whole.dispose()
    XCTAssertEqual(stub.cancelled.count, 1, "one that has ended is not cancelled")
  }

  func test_aTransportWithoutStreamingDeliversOneChunk() throws {
    let plain = PlainTransport(StubTransport { _ in .json("[1]") })
    let pending = PendingStream(self) { _ in .pause }
    pending.start(Request(url: try XCTUnwrap(URL(string: "https://api.example/"))), on: plain)
    XCTAssertEqual(try pending.outcome().get().body, Data())
    XCTAssertEqual(pending.order, ["head", "chunk", "completion"])
    XCTAssertEqual(pending.body, Data("[1]".utf8))
  }

  func test_aTransportWithoutDownloadsDoesNotReceiveTheDestination() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let transport = StubTransport { _ in .json("1") }
    var request = Request(url: try XCTUnwrap(URL(string: "https://api.example/")))
    request.destination = file
    let ended = expectation(description: "the download has ended")
    let download = transport.download(request, to: file) { result in
      XCTAssertEqual(try? result.get().request.destination, file)
      ended.fulfill()
    }
    wait(for: [ended], timeout: 60)
    download.dispose()
    XCTAssertEqual(transport.requests.map(\.destination), [nil])
    XCTAssertEqual(try Data(contentsOf: file), Data("1".utf8))
  }

  func test_aRecordingContainsStreamedBodies() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let replies = StubTransport { [fragments] _ in .chunks(fragments) }
    let pending = PendingStream(self)
    let request = Request(url: try XCTUnwrap(URL(string: "https://api.example/")))
    pending.start(request, on: try RecordingTransport(replies, to: file))
    _ = try pending.outcome().get()
    let replayed = PendingCall(self)
    _ = replayed.send(request, on: try StubTransport(har: file))
    XCTAssertEqual(try replayed.outcome().get().body, Data("abc".utf8))
  }

  func test_aStreamThatCannotBeRecordedFails() throws {
    let folder = try makeSocketFolder()
    let transport = try RecordingTransport(
      StubTransport { _ in .json("7") }, to: URL(filePath: folder).appending(path: "recording"))
    try FileManager.default.removeItem(atPath: folder)
    let streamed = PendingStream(self)
    streamed.start(Request(url: try XCTUnwrap(URL(string: "http://h/"))), on: transport)
    XCTAssertEqual(TransportSuite.kind(try streamed.outcome()), .file)
    XCTAssertEqual(streamed.order, ["head", "chunk", "completion"])
  }
}
