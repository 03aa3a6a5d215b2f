import Foundation
import Races
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Processes that upload are killed at random moments. Afterwards, another process continues, and the server has the
/// file once, with every byte in its place.
///
/// `NETLAYER_UPLOAD_KILLS` sets the number of kills.
final class UploadCrashTests: UploadTestCase {
  private static let environment = ProcessInfo.processInfo.environment

  func test_upload_row_06_killedProcess_isContinuedByTheNextOne() throws {
    guard Self.environment["NETLAYER_UPLOAD_CHILD"] == nil else { throw XCTSkip("this is the process that is killed") }
    let kills = Self.environment["NETLAYER_UPLOAD_KILLS"].flatMap(Int.init) ?? 20
    let seed = Self.environment["NETLAYER_UPLOAD_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
    var generator = SplitMix64(seed: seed)
    var (killed, uploads, unknown) = (0, 0, 0)
    while killed < kills {
      uploads += 1
      try removeNotes()
      let method = Bool.random(using: &generator) ? UploadProtocol.tus : .ietf()
      let isAwaited = Bool.random(using: &generator)
      let habits = UploadServer.Habits(
        discards: Int.random(in: 0..<4, using: &generator) == 0,
        removesComplete: Int.random(in: 0..<3, using: &generator) == 0)
      let server = try UploadServer(method, habits)
      let bytes = try write(Int.random(in: 1...900_000, using: &generator), seed: generator.next())
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        server.fail("PATCH", .cut(Int.random(in: 0...bytes.count, using: &generator)))
      }
      if Int.random(in: 0..<3, using: &generator) == 0 {
        server.fail(["POST", "HEAD", "PATCH"].randomElement(using: &generator) ?? "HEAD", .loseResponse)
      }
      var ending: String?
      for round in 1...10 where ending == nil {
        // The last rounds are not killed, so that the upload ends.
        let moment = round > 4 ? nil : Int.random(in: 1...4, using: &generator)
        ending = try run(server, method, isAwaited, killAfter: moment, UInt32.random(in: 0..<4000, using: &generator))
        if ending == nil { killed += 1 }
        if ending == "result", moment == nil { XCTAssertEqual(notes, [], "a process that exits has taken its result") }
      }
      let context =
        "seed \(seed), upload \(uploads), \(method.name)\(isAwaited ? ", awaited" : ""): \(ending ?? "no end"), \(server.log)"
      let finished = server.finished
      XCTAssertTrue(finished == [bytes] || ending == "unknownOutcome" && finished.isEmpty, context)
      if ending == "unknownOutcome" {
        unknown += 1
        XCTAssertTrue(habits.removesComplete || finished.isEmpty, context)
      } else {
        XCTAssertEqual(ending, "result", context)
      }
      guard finished == [bytes] else { return }
    }
    print("\(killed) kills in \(uploads) uploads, \(unknown) unknown outcomes (seed \(seed))")
  }

  /// Uploads in a child process. Returns how the upload has ended; `nil` if the process was killed before.
  ///
  /// - Parameters:
  ///   - count: The number of further requests after which the process is killed; `nil` for none.
  ///   - delay: The time in microseconds after that request.
  private func run(
    _ server: UploadServer, _ method: UploadProtocol, _ isAwaited: Bool, killAfter count: Int?, _ delay: UInt32
  ) throws -> String? {
    let child = Process()
    child.executableURL = URL(filePath: CommandLine.arguments[0])
    child.arguments = ["NetLayerOfflineTests.UploadCrashTests/test_child"]
    child.environment = Self.environment.merging([
      "NETLAYER_UPLOAD_CHILD": film.path, "NETLAYER_UPLOAD_URL": server.url.absoluteString,
      "NETLAYER_UPLOAD_TUS": method == .tus ? "1" : "0", "NETLAYER_UPLOAD_AWAITED": isAwaited ? "1" : "0",
    ]) { $1 }
    let output = Pipe()
    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    defer { try? output.fileHandleForReading.close() }
    child.standardOutput = output
    child.standardError = FileHandle.nullDevice
    let start = server.log.count
    try child.run()
    if let count {
      XCTAssertTrue(holds { server.log.count >= start + count || !child.isRunning })
      usleep(delay)
      kill(child.processIdentifier, SIGKILL)
    }
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    child.waitUntilExit()
    return text.firstMatch(of: /ended with (\w+)/).map { String($0.1) }
  }

  /// Uploads until the process is killed. Runs only in a child process.
  func test_child() async throws {
    guard let path = Self.environment["NETLAYER_UPLOAD_CHILD"],
      let url = Self.environment["NETLAYER_UPLOAD_URL"].flatMap({ URL(string: $0) })
    else { return }
    let method = Self.environment["NETLAYER_UPLOAD_TUS"] == "1" ? UploadProtocol.tus : .ietf()
    let network = Network(Backend(baseURL: url))
    let policy = RetryPolicy(attempts: 20, initialDelay: .milliseconds(1))
    // The result is recorded while it is delivered: a process that is killed afterwards does not upload again.
    let record: @Sendable (String) throws -> Void = { text in
      try FileHandle.standardOutput.write(contentsOf: Data("ended with \(text)\n".utf8))
    }
    do {
      if Self.environment["NETLAYER_UPLOAD_AWAITED"] == "1" {
        let endpoint = Call<Response>.post("/files")
        try await network.upload(URL(filePath: path), to: endpoint, by: method, retry: policy)
        return try record("result")
      }
      let events = network.transfer(URL(filePath: path), to: .post("/files"), by: method, retry: policy)
      for try await _ in events.do(onNext: { if $0.result != nil { try record("result") } }).values {}
    } catch {
      try record("\(NetworkError.wrapping(error).kind)")
    }
  }
}
