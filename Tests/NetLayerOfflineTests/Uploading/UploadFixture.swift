import Foundation
import HTTPTransport
import Races
import Streams
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// A file to upload, in its own folder.
class UploadTestCase: XCTestCase {
  private(set) var folder = URL(filePath: "/")
  var film: URL { folder.appending(path: "film.mp4") }
  /// Both protocols.
  let methods: [UploadProtocol] = [.tus, .ietf()]
  let policy = RetryPolicy(attempts: 8, initialDelay: .zero)

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file of different bytes, and returns them.
  @discardableResult
  func write(_ count: Int, seed: UInt64 = 1) throws -> Data {
    var generator = SplitMix64(seed: seed)
    let block = Data((0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) })
    var bytes = Data(capacity: count + block.count)
    while bytes.count < count {
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
      bytes.append(block)
    }
    bytes = bytes.prefix(count)
    try bytes.write(to: film)
    return bytes
  }

  /// The notes of uploads whose results were not taken.
  var notes: [String] {
    UploadRegistry.shared.settle()
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter {
      $0.hasSuffix(".upload")
    }
  }
  func removeNotes() throws {
    for name in notes { try FileManager.default.removeItem(at: folder.appending(path: name)) }
  }
  var note: URL { folder.appending(path: notes.first ?? "none") }

  func network(_ server: UploadServer, _ change: (inout Backend) -> Void = { _ in }) -> Network {
    var backend = Backend(baseURL: server.url)
    change(&backend)
    return Network(backend)
  }

  /// Uploads the film, and returns the response or the kind of the error.
  func upload(
    _ server: UploadServer, _ method: UploadProtocol, on network: Network? = nil,
    to call: Call<Response> = .post("/files"), progress: ProgressHandler? = nil
  ) async -> Result<Response, NetworkError> {
    do {
      let network = network ?? self.network(server)
      return .success(
        try await network.upload(film, to: call, by: method, retry: policy, progress: progress))
    } catch {
      return .failure(error)
    }
  }

  /// Uploads the film, which must succeed, with exactly one complete upload of `bytes`.
  func assertUploads(
    _ bytes: Data, _ server: UploadServer, _ method: UploadProtocol, file: StaticString = #filePath, line: UInt = #line
  ) async {
    let result = await upload(server, method)
    if case .failure(let error) = result { XCTFail("\(error)", file: file, line: line) }
    XCTAssertTrue(server.finished == [bytes], "one complete upload of all bytes", file: file, line: line)
    XCTAssertEqual(notes, [], "the note is removed", file: file, line: line)
  }
}

extension Result where Failure == NetworkError {
  var kind: NetworkError.Kind? { if case .failure(let error) = self { error.kind } else { nil } }
}
