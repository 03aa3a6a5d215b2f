import Foundation

/// A body of several pieces, or of chunks, in a temporary file: `URLSession` sends from memory or from one file, and a body
/// does not belong in memory. Removed when it is released.
final class BodySpool: Sendable {
  let file: URL

  /// Writes the whole body; may take its time, so never on the session's queue.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` when a piece can't be read, of kind `file` when there is no room.
  init(_ request: Request) throws(NetworkError) {
    file = FileManager.default.temporaryDirectory.appending(path: "netlayer-\(UUID().uuidString).body")
    do {
      // Others on the machine may look into the temporary folder.
      let spool = try DownloadFile(file, isPrivate: true)
      switch request.body {
      case .parts(let parts): try Self.copy(BodySource(parts: parts, of: request), to: spool, request)
      case .stream(let stream): try Self.copy(stream, to: spool, request)
      case .none, .data, .file: break
      }
      try spool.complete()
    } catch {
      throw NetworkError.wrapping(error).about(request)
    }
  }

  deinit { try? FileManager.default.removeItem(at: file) }

  private static func copy(_ source: BodySource, to spool: DownloadFile, _ request: Request) throws(NetworkError) {
    if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = source.read(into: buffer)
      guard count >= 0 else {
        throw NetworkError(kind: .invalidRequest, reason: "a file of the body could not be read to its end")
      }
      guard count > 0 else { return }
      try append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: spool)
    }
  }

  private static func copy(_ stream: Request.BodyStream, to spool: DownloadFile, _ request: Request) throws {
    do {
      let reader = try stream.open()
      while let chunk = try reader() { try chunk.withUnsafeBytes { try append($0, to: spool) } }
    } catch let error as NetworkError {
      throw error
    } catch {
      throw NetworkError(kind: .invalidRequest, reason: "the body can't be read: \(error)", underlying: error)
    }
    if let count = stream.count, count != spool.count {
      let reason = "the body has \(spool.count) bytes where \(count) were announced"
      throw NetworkError(kind: .invalidRequest, reason: reason)
    }
  }

  private static func append(_ bytes: UnsafeRawBufferPointer, to spool: DownloadFile) throws(NetworkError) {
    guard spool.append(bytes) else {
      throw NetworkError(kind: .file, reason: spool.failure ?? "the body can't be written to a temporary file")
    }
  }
}
