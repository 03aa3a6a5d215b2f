import Foundation
import LoopbackServer
import NetLayerOffline
import Streams
import XCTest

/// Runs the samples of the guide on uploads that resume.
final class UploadSamples: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "upload-samples-\(UUID().uuidString)")
  private var film: URL { folder.appending(path: "film.mp4") }

  override func setUpWithError() throws {
    // Other samples print, too.
    _ = Printed.take()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(count: 300_000).write(to: film)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  /// A server of tus that cuts the first request to append, and loses a response to the last bytes.
  private func server(losesLastResponse: Bool = false) throws -> TestServer {
    let state = Locked<(offset: Int, appends: Int)>((0, 0))
    return try TestServer(
      cut: { request in
        request.method == "PATCH" && !losesLastResponse && state.withLock { $0.appends } == 0 ? 100_000 : nil
      },
      handler: { request in
        state.withLock { state in
          switch request.method {
          case "POST":
            state = (0, 0)
            return .status(201).header("Location", "/uploads/1").header("Connection", "close")
          case "HEAD":
            return losesLastResponse
              ? .status(404) : .status(200).header("Upload-Offset", "\(state.offset)").header("Connection", "close")
          case "PATCH":
            state.appends += 1
            state.offset += request.body.count
            if losesLastResponse || state.appends == 1 { return .resetBeforeHead }
            return .status(204).header("Upload-Offset", "\(state.offset)")
          case "GET": return .json(#"["film.mp4"]"#)
          default: return .status(204)
          }
        }
      })
  }

  func test_upload() async throws {
    let server = try server()
    let app = Network(Backend(baseURL: server.url))
    let (film, bar) = (film, Bar())

    let response = try await app.fetch(uploading: film, to: .post("/films"), by: .tus) { progress in
      bar.show(progress.fractionSent ?? 0)
    }
    print(response.status)
    try assertPrinted(asIn: "UploadsThatResume", 0)
    XCTAssertEqual(bar.last, 1)
    XCTAssertEqual(server.requests.map(\.method), ["POST", "PATCH", "HEAD", "PATCH"])
  }

  func test_pause() async throws {
    let server = try server()
    let app = Network(Backend(baseURL: server.url))
    let (film, bar) = (film, Bar())

    let running = app.upload(resuming: film, to: .post("/films"), by: .tus)
      .subscribe(
        onNext: { event in
          if let progress = event.progress { bar.show(progress.fractionSent ?? 0) }
          if let response = event.result { print("done: \(response.status)") }
        }, onError: { error in print(error) })
    running.dispose()

    try await app.cancelUpload(of: film, to: .post("/films"), by: .tus).value
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["film.mp4"])
  }

  func test_unknownOutcome() async throws {
    let server = try server(losesLastResponse: true)
    let app = Network(Backend(baseURL: server.url))
    let film = film

    do {
      try await app.fetch(uploading: film, to: .post("/films"), by: .tus)
    } catch {
      guard error.kind == .unknownOutcome else { throw error }
      let films = try await app.fetch(.get("/films"), as: [String].self)
      if films.contains("film.mp4") { print("it has arrived") }
      try await app.cancelUpload(of: film, to: .post("/films"), by: .tus).value
    }
    try assertPrinted(asIn: "UploadsThatResume", 1)
  }
}

/// A progress bar.
private final class Bar: Sendable {
  private let shown = Locked(0.0)
  var last: Double { shown.withLock { $0 } }
  func show(_ fraction: Double) { shown.withLock { $0 = fraction } }
}
