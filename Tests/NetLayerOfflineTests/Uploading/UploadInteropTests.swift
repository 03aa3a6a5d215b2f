import Foundation
import Streams
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Uploads to a server of others, directly and through a proxy that cuts requests. `Tests/Interop/uploads` starts both.
final class UploadInteropTests: UploadTestCase {
  private static let environment = ProcessInfo.processInfo.environment

  private struct Setting {
    let server: URL
    let proxy: URL
    let stored: URL
    let method: UploadProtocol
  }

  private func setting() throws -> Setting {
    let values = Self.environment
    guard let server = values["NETLAYER_UPLOAD_SERVER"].flatMap({ URL(string: $0) }),
      let proxy = values["NETLAYER_UPLOAD_PROXY"].flatMap({ URL(string: $0) }),
      let folder = values["NETLAYER_UPLOAD_FOLDER"]
    else { throw XCTSkip("Tests/Interop/uploads runs this test") }
    let method = values["NETLAYER_UPLOAD_METHOD"] == "draft" ? UploadProtocol.ietf() : .tus
    return Setting(server: server, proxy: proxy, stored: URL(filePath: folder), method: method)
  }

  /// Returns the number of stored files with these bytes.
  private func copies(of bytes: Data, in folder: URL) -> Int {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let found = files?.compactMap { $0 as? URL } ?? []
    return found.count { (try? Data(contentsOf: $0)) == bytes }
  }

  func test_upload_toAnotherServer() async throws {
    let setting = try setting()
    let network = Network(Backend())
    for count in [0, 1, 3_000_000] {
      let bytes = try write(count, seed: UInt64(count) + 7)
      let shown = Box<Int64>(-1)
      try await network.upload(
        film, to: .post(setting.server.absoluteString), by: setting.method, retry: policy
      ) { shown.value = $0.sent }
      XCTAssertTrue(holds { self.copies(of: bytes, in: setting.stored) >= 1 }, "\(count) bytes")
      XCTAssertEqual(notes, [])
      if count > 0 { XCTAssertEqual(shown.value, Int64(count)) }
    }
  }

  func test_upload_isCancelled() async throws {
    let setting = try setting()
    let network = Network(Backend())
    try write(3_000_000, seed: 5)
    let call = Call(.post, setting.server.absoluteString)
    let running = network.transfer(film, to: call, by: setting.method, retry: policy)
      .subscribe(onError: { XCTFail("\($0)") })
    XCTAssertTrue(holds { (try? Data(contentsOf: self.note))?.isEmpty == false || self.notes.isEmpty })
    running.dispose()
    try await network.cancelUpload(of: film, to: call, by: setting.method).value
    XCTAssertEqual(notes, [])
  }

  func test_upload_throughAProxyThatCutsRequests() async throws {
    let setting = try setting()
    let network = Network(Backend(timeouts: Request.Timeouts(idle: .seconds(5))))
    let patient = RetryPolicy(attempts: 8, initialDelay: .milliseconds(20), maxDelay: .milliseconds(200))
    var (results, unknown, gaveUp) = (0, 0, 0)
    var random = randomNumbers()
    for round in 1...10 {
      let bytes = try write(Int.random(in: 1...3_000_000, using: &random), seed: UInt64(round) + 100)
      attempts: for _ in 1...20 {
        do {
          try await network.upload(film, to: .post(setting.proxy.absoluteString), by: setting.method, retry: patient)
          results += 1
          XCTAssertTrue(holds { self.copies(of: bytes, in: setting.stored) >= 1 }, "round \(round): the file differs")
          break attempts
        } catch {
          switch error.kind {
          case .unknownOutcome:
            unknown += 1
            XCTAssertTrue(
              holds { self.copies(of: bytes, in: setting.stored) >= 1 }, "round \(round): it has not arrived")
            try removeNotes()
            break attempts
          case .connection: gaveUp += 1
          case .status where error.status == 403 || error.status == 400: gaveUp += 1
          default:
            XCTFail("round \(round): \(error)")
            break attempts
          }
        }
      }
      XCTAssertEqual(notes, [], "round \(round)")
      XCTAssertLessThanOrEqual(copies(of: bytes, in: setting.stored), 1, "round \(round): twice")
      try removeNotes()
    }
    print("10 uploads through the proxy: \(results) results, \(unknown) unknown outcomes, \(gaveUp) continued later")
  }
}
