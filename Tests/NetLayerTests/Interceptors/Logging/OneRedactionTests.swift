import Foundation
import HTTPTransport
import NetLayer
import NetLayerRecording
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// A secret that a backend names once is hidden in everything that shows a call.
final class OneRedactionTests: XCTestCase {
  private let secret = "ada-lovelace"

  /// Calls a server whose query, header field, body and response contain the secret, and returns everything that is shown.
  private func shown(
    _ redaction: Redaction, logger: Redaction = .inherited, fails: Bool = false
  ) async throws -> [String: String] {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    let lines = Notes()
    let events = Notes()
    let recorder = Recorder()
    let stub = StubTransport { [secret] _ in .json(#"{"customer":"\#(secret)"}"#, status: fails ? 500 : 200) }
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: try RecordingTransport(stub, to: file),
        interceptors: [
          recorder, NetworkLogger(level: .body, redaction: logger) { lines.add($0) },
          CallEventHandler { event in events.add("\(event.attributes())") },
        ], onError: { events.add("\($0)") }, redaction: redaction))
    let call = Call<Response>.post("/x", json: ["customer": secret])
      .query(["customer": secret]).header("X-Customer", secret)
    let response = try? await network.response(call)
    var all = [
      "log": lines.all.joined(separator: "\n"), "events": events.all.joined(separator: "\n"),
      "recorder": "\(recorder.entries)",
      "har": String(decoding: recorder.har(), as: UTF8.self),
      "recording": (try? String(contentsOf: file, encoding: .utf8)) ?? "",
      "curl": response?.request.curlCommand() ?? "",
    ]
    if fails {
      do { try await network.fetch(call) } catch { all["error"] = "\(error) \(error.reason)" }
    }
    return all
  }

  func test_secretThatTheBackendNames_isHiddenEverywhere() async throws {
    let names = Redaction.standard.hiding(["customer", "X-Customer"])
    for fails in [false, true] {
      for (place, text) in try await shown(names, fails: fails) {
        XCTAssertFalse(text.isEmpty, place)
        XCTAssertFalse(text.contains(secret), "\(place): \(text)")
      }
    }
    for (place, text) in try await shown(.standard) {
      XCTAssertTrue(text.contains(secret), "\(place) is hidden without a name: \(text)")
    }
  }

  func test_ownNamesAreAdded_andNoneHidesNothing() async throws {
    let log = try await shown(.standard.hiding(["customer"]), logger: Redaction(names: ["X-Customer"]))["log"] ?? ""
    XCTAssertFalse(log.contains(secret), log)
    let open = try await shown(.standard.hiding(["customer", "X-Customer"]), logger: Redaction.none)["log"] ?? ""
    XCTAssertTrue(open.contains(secret), open)
    for (place, text) in try await shown(.none) { XCTAssertTrue(text.contains(secret), "\(place): \(text)") }
  }
}
