import Foundation
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

final class TransferEventTests: XCTestCase {
  func test_transferOfACall_emitsProgress_thenTheResult() {
    let stub = StubTransport { _ in
      StubTransport.StubbedResponse.json("[1]").reporting([.init(sent: 1, sendTotal: 2), .init(sent: 2, sendTotal: 2)])
    }
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
    let events = record(network.transfer(Call.post("/x", json: [1]).as([Int].self))).elements
    XCTAssertEqual(events.last, .result([1]))
    XCTAssertEqual(events.compactMap(\.progress?.sent).prefix(2), [1, 2])
    XCTAssertEqual(events.compactMap(\.result).count, 1)
  }

  func test_progressOfAnUploadToAServer_grows_andTheResultIsTheLastEvent() async throws {
    let server = try TestServer { .text("\($0.body.count)") }
    let network = Network(Backend(baseURL: server.url))
    let film = Data(repeating: 65, count: 3_000_000)
    for _ in 0..<20 {
      var events: [TransferEvent<String>] = []
      for try await event in network.transfer(Call.put("/film", .data(film)).as(String.self)).values {
        events.append(event)
      }
      XCTAssertEqual(events.last, .result("3000000"))
      XCTAssertEqual(events.filter { $0.result != nil }.count, 1)
      let sent = events.compactMap(\.progress?.sent)
      XCTAssertEqual(sent, sent.sorted())
      XCTAssertEqual(sent.last, 3_000_000)
    }
  }

  func test_download_returnsTheFile_andPassesProgressOn() async throws {
    let server = try TestServer { _ in .text("content") }
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let received = Notes()
    let saved = try await Network(Backend(baseURL: server.url)).download(.get("/a"), to: file) {
      received.add("\($0.received)")
    }
    XCTAssertEqual(saved, file)
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "content")
    XCTAssertEqual(received.all.last, "7")
  }
}
