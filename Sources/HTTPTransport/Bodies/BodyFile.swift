import PortableFoundation

/// Access to files that are sent as a body or as a part of a body.
package enum BodyFile {
  /// Opens `file` for reading. The caller must close the descriptor. The size is in bytes.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` that names the file, if it can't be read or is not a regular
  ///   file.
  package static func open(_ file: URL) throws(NetworkError) -> (descriptor: Int32, size: Int) {
    guard file.isFileURL else { throw failure(file, "it is not a file URL") }
    // Nonblocking, because a pipe without a writer would block the thread forever.
    var descriptor: Int32
    repeat {
      descriptor = openDescriptor(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw failure(file, String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      _ = close(descriptor)
      throw failure(file, "it is not a regular file")
    }
    guard let size = Int(exactly: status.st_size) else {
      _ = close(descriptor)
      throw failure(file, "it is larger than 2 GB, the limit of this system")
    }
    return (descriptor, size)
  }

  /// Throws the errors of `open`, so that they are detected when the request is built.
  package static func check(_ file: URL) throws(NetworkError) { _ = close(try open(file).descriptor) }

  private static func failure(_ file: URL, _ reason: String) -> NetworkError {
    let place = file.isFileURL ? file.path : file.absoluteString
    return NetworkError(kind: .invalidRequest, reason: "the body file \(place) can't be sent: \(reason)")
  }
}
