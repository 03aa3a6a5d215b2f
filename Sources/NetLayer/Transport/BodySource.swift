import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a request's body, read piece by piece and from the start again, of known length.
final class BodySource {
  private enum Storage {
    case data(Data)
    case file(Int32)
  }

  private struct Segment {
    var storage: Storage
    /// Where it begins in the whole.
    var start: Int64
    var count: Int64
  }

  private var segments: [Segment] = []
  private var current = 0
  private var offset: Int64 = 0
  /// The length in bytes.
  private(set) var count: Int64 = 0

  init(_ data: Data) { append(.data(data), count: data.count) }

  /// Opens `file`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` when it can't be read or is no regular file.
  init(file: URL, of request: Request) throws(NetworkError) { try append(file, of: request) }

  /// Opens every file among `parts`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` that names the file.
  init(parts: [Request.Body.Part], of request: Request) throws(NetworkError) {
    for part in parts {
      switch part {
      case .data(let data): append(.data(data), count: data.count)
      case .file(let file): try append(file, of: request)
      }
    }
  }

  deinit {
    for segment in segments {
      if case .file(let descriptor) = segment.storage { _ = close(descriptor) }
    }
  }

  private func append(_ storage: Storage, count length: Int) {
    segments.append(Segment(storage: storage, start: count, count: Int64(length)))
    count += Int64(length)
  }

  private func append(_ file: URL, of request: Request) throws(NetworkError) {
    do {
      let (descriptor, size) = try BodyFile.open(file)
      append(.file(descriptor), count: size)
    } catch {
      throw error.about(request)
    }
  }

  /// Copies the next bytes into `buffer`: how many, 0 at the end, -1 when a file can't be read.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while current < segments.count {
      let segment = segments[current]
      let position = offset - segment.start
      // A file that has grown since it was opened would contradict the Content-Length already sent.
      let length = Int(clamping: Swift.min(Int64(buffer.count), segment.count - position))
      guard length > 0 else {
        if buffer.isEmpty { return 0 }
        current += 1
        continue
      }
      switch segment.storage {
      case .data(let data):
        let start = data.startIndex + Int(position)
        data.copyBytes(to: buffer, from: start..<(start + length))
        offset += Int64(length)
        return length
      case .file(let descriptor):
        let got = pread(descriptor, buffer.baseAddress, length, off_t(position))
        guard got > 0 else { return -1 }
        offset += Int64(got)
        return got
      }
    }
    return 0
  }

  /// Goes to `position`, as a repeated request needs; `false` outside the body.
  func seek(to position: Int64) -> Bool {
    guard position >= 0, position <= count else { return false }
    offset = position
    current = segments.lastIndex { $0.start <= position } ?? 0
    return true
  }
}
