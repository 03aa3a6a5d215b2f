import Foundation
import Streams
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerRecording
@testable import NetLayerTesting

/// Tests that no secret reaches an archive, wherever a request or a response contains it.
final class RecordedSecretsTests: XCTestCase {
  private static let names = [
    "token", "access_token", "password", "apiKey", "client_secret", "sessionid", "jwt", "pin", "otp", "X-Signature",
  ]

  /// Six places of a secret for each name, so that a list has sixty.
  private func exchanges(_ secret: String) throws -> [(Request, Result<Response, NetworkError>)] {
    func request(_ url: String, _ headers: HTTPHeaders = [:], _ body: String? = nil) throws -> Request {
      Request(
        method: .post, url: try XCTUnwrap(URL(string: url)), headers: headers,
        body: body.map { .data(Data($0.utf8)) } ?? .none)
    }
    return try Self.names.flatMap { name -> [(Request, Result<Response, NetworkError>)] in
      let plain = try request("http://h/\(name)")
      let json = #"{"a":[{"\#(name)":"\#(secret)"}],"b":1}"#
      let utf16 = json.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      let part = "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(secret)\r\n--b--\r\n"
      let multipart: HTTPHeaders = ["Content-Type": "multipart/form-data; boundary=b"]
      return [
        (try request("http://u:\(secret)@h/?\(name)=\(secret)#\(secret)"), .success(Response(request: plain))),
        (
          try request("http://h/f", [:], "a=1&\(name)=\(secret)"),
          .success(Response(request: plain, body: Data(json.utf8)))
        ),
        (try request("http://h/m", multipart, part), .success(Response(request: plain, body: Data(utf16)))),
        (
          try request("http://h/h", ["Authorization": "Bearer \(secret)", "Cookie": "a=\(secret)"]),
          .success(
            Response(
              request: plain, status: 302,
              headers: ["Set-Cookie": "a=\(secret)", "Location": "http://h/?\(name)=\(secret)"]))
        ),
        (
          try request("http://h/b"),
          .success(Response(request: plain, body: Data([0xE9]) + Data("&\(name)=\(secret)&".utf8)))
        ),
        (plain, .failure(NetworkError(kind: .connection, reason: "http://h/?\(name)=\(secret) failed"))),
      ]
    }
  }

  /// The forms in which a file could contain the secret: text, and base64 of text in two encodings at any offset.
  private func contains(_ file: Data, _ secret: String) throws -> Bool {
    if String(decoding: file, as: UTF8.self).contains(secret) { return true }
    return try HARReader.entries(in: file).contains { entry in
      entry.body.range(of: Data(secret.utf8)) != nil
        || entry.body.range(of: Data(secret.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })) != nil
    }
  }

  func test_noSecretIsInARecording() throws {
    let secret = "s3cr3t7f"
    let all = try exchanges(secret)
    XCTAssertEqual(all.count, 60)
    let turn = Locked(0)
    let base = StubTransport { _ in
      let result = all[
        turn.withLock {
          $0 += 1; return $0 - 1
        }
      ].1
      return .init(delay: .zero) { _ in result }
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString).har")
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    let transport = try RecordingTransport(base, to: file)
    for (request, _) in all {
      let pending = PendingCall(self)
      _ = pending.send(request, on: transport)
      _ = try pending.outcome()
    }
    XCTAssertEqual(turn.withLock { $0 }, 60)
    XCTAssertFalse(try contains(Data(contentsOf: file), secret), "\(secret) is in the recording of http://h")
    let entries = try HARReader.entries(of: file)
    XCTAssertEqual(entries.count, 60)
    let bodies = entries.compactMap { String(data: $0.body, encoding: .utf16LittleEndian) }
    XCTAssertEqual(bodies.filter { $0.hasSuffix(#""***"}],"b":1}"#) }.count, Self.names.count)
  }

  func test_noSecretOfAnotherProgramIsKept() throws {
    let secret = "s3cr3t7f"
    let foreign = try exchanges(secret).map { HAREntry($0.0, $0.1, started: Date(), redaction: .none) }
    XCTAssertTrue(try contains(HARWriter.archive(foreign), secret))
    XCTAssertFalse(
      try contains(HARWriter.archive(foreign.map { $0.redacted(.standard) }), secret),
      "\(secret) of http://h is in the archive of another program")
    let file = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString).har")
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    try HARWriter.archive(foreign).write(to: file)
    let transport = try RecordingTransport(StubTransport { _ in .json("1") }, to: file)
    let pending = PendingCall(self)
    _ = pending.send(Request(url: try XCTUnwrap(URL(string: "http://h/x"))), on: transport)
    _ = try pending.outcome()
    XCTAssertFalse(try contains(Data(contentsOf: file), secret), "\(secret) of http://h has remained in the recording")
  }

  func test_noSecretIsInARecorder() throws {
    let secret = "s3cr3t7f"
    let recorder = Recorder()
    for (call, (request, result)) in try exchanges(secret).enumerated() {
      for kind in [CallEvent.Kind.started, .sent, .finished, .failed] {
        var event = CallEvent(kind, of: CallNumber(value: call + 1, start: .zero), at: .zero, request)
        if kind == .finished { event.add(result) }
        if kind == .failed, case .failure(let error) = result { event.error = error }
        recorder.observe(event)
      }
    }
    XCTAssertEqual(recorder.entries.count, 60)
    XCTAssertFalse(try contains(recorder.har(), secret), "\(secret) of http://h is in the recorder's archive")
    XCTAssertFalse("\(recorder.entries)".contains(secret), "\(secret) of http://h is in the recorder's entries")
  }
}
