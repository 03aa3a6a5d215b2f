import PortableFoundation

/// The bytes of a request's body, of known length, which can be read in chunks and rewound.
// @unchecked Sendable: used by one thread at a time, the transport's or its `ChunkPump`'s.
final class BodySource: @unchecked Sendable {
  private enum Storage {
    case data(Data)
    case file(Int32)
  }

  private struct Segment {
    var storage: Storage
    /// The position of the segment in the body.
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
  /// - Throws: `NetworkError` of kind `invalidRequest` if it can't be read or is not a regular file.
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

  /// Copies the next bytes into `buffer`. Returns their number, 0 at the end, or -1 if a file can't be read.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while current < segments.count {
      let segment = segments[current]
      let position = offset - segment.start
      // Ignores bytes added to a file after it was opened, because they would contradict the Content-Length.
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
        var got: Int
        repeat { got = pread(descriptor, buffer.baseAddress, length, off_t(position)) } while got < 0 && errno == EINTR
        guard got > 0 else { return -1 }
        offset += Int64(got)
        return got
      }
    }
    return 0
  }

  /// Moves to `position`, for a request that is sent again. Returns `false` if it is outside the body.
  func seek(to position: Int64) -> Bool {
    guard position >= 0, position <= count else { return false }
    offset = position
    current = segments.lastIndex { $0.start <= position } ?? 0
    return true
  }
}

extension Request.BodyStream {
  /// The number of bytes to read at a time.
  private static let chunkSize = 1 << 16

  /// Creates a stream of the body of `request`, so that a slow disk does not block the transport; `nil` if the body has
  /// no file. The length is measured now. A file whose length has changed when it is sent fails the request.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if a file can't be read, or its length contradicts the request's
  ///   `Content-Length`.
  init?(filesOf request: Request) throws(NetworkError) {
    let parts: [Request.Body.Part]
    switch request.body {
    case .file(let file): parts = [.file(file)]
    case .parts(let all) where request.body.byteCount == nil: parts = all
    case .none, .data, .parts, .stream: return nil
    }
    let count = try BodySource(parts: parts, of: request).count
    if let failure = RequestCheck.lengthFailure(of: request, length: count) { throw failure }
    self.init(count: count) {
      let source = try BodySource(parts: parts, of: request)
      guard source.count == count else {
        throw Self.changed("has \(source.count) bytes instead of \(count), because it changed before it was sent")
      }
      return { try Self.chunk(of: source) }
    }
  }

  /// Returns the next bytes of `source`; `nil` at its end.
  static func chunk(of source: BodySource) throws(NetworkError) -> Data? {
    var chunk = Data(count: chunkSize)
    let count = chunk.withUnsafeMutableBytes { source.read(into: $0) }
    guard count >= 0 else {
      throw changed("could not be read to the end; it may have changed during the upload")
    }
    return count == 0 ? nil : chunk.prefix(count)
  }

  private static func changed(_ how: String) -> NetworkError {
    NetworkError(kind: .file, reason: "the body file \(how)")
  }
}

extension Request.Body {
  package var isEmpty: Bool {
    switch self {
    case .none: true
    case .data(let data): data.isEmpty
    case .file, .stream: false
    case .parts(let parts):
      parts.allSatisfy { if case .data(let data) = $0 { data.isEmpty } else { false } }
    }
  }

  /// The length in bytes; `nil` if it depends on a file.
  package var byteCount: Int64? {
    switch self {
    case .none: 0
    case .data(let data): Int64(data.count)
    case .file: nil
    case .stream(let stream): stream.count
    case .parts(let parts):
      parts.reduce(0) { sum, part in
        guard let sum, case .data(let data) = part else { return nil }
        return sum + Int64(data.count)
      }
    }
  }
}
