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

  private let storage: Storage
  private var offset = 0
  /// The length in bytes.
  let count: Int64

  init(_ data: Data) {
    storage = .data(data)
    count = Int64(data.count)
  }

  /// Opens `file`.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` when it can't be read or is no regular file.
  init(file: URL, of request: Request) throws(NetworkError) {
    func failure(_ reason: String) -> NetworkError {
      NetworkError(
        kind: .invalidRequest, reason: "the body's file \(file.path) can't be sent: \(reason)", request: request)
    }
    guard file.isFileURL else { throw failure("it is no file URL") }
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      _ = close(descriptor)
      throw failure("it is no regular file")
    }
    storage = .file(descriptor)
    count = Int64(status.st_size)
  }

  deinit {
    if case .file(let descriptor) = storage { _ = close(descriptor) }
  }

  /// Copies the next bytes into `buffer`: how many, 0 at the end, -1 when the file can't be read.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch storage {
    case .data(let data):
      let length = Swift.min(buffer.count, data.count - offset)
      guard length > 0 else { return 0 }
      let start = data.startIndex + offset
      data.copyBytes(to: buffer, from: start..<(start + length))
      offset += length
      return length
    case .file(let descriptor):
      // A file that has grown since it was opened would contradict the Content-Length already sent.
      let length = Swift.min(buffer.count, Int(clamping: count) - offset)
      guard length > 0 else { return 0 }
      let got = pread(descriptor, buffer.baseAddress, length, off_t(offset))
      guard got > 0 else { return -1 }
      offset += got
      return got
    }
  }

  /// Goes to `position`, as a repeated request needs; `false` outside the body.
  func seek(to position: Int64) -> Bool {
    guard position >= 0, position <= count else { return false }
    offset = Int(clamping: position)
    return true
  }
}
