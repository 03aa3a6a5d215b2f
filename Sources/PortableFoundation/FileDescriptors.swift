/// Writes all of `bytes` to `descriptor`, and waits if it is nonblocking and full. Returns `false` on an error, with
/// `errno` set.
@discardableResult
package func writeAll(_ bytes: Data, to descriptor: Int32) -> Bool {
  bytes.withUnsafeBytes { buffer in
    var done = 0
    while done < buffer.count, let base = buffer.baseAddress {
      let count = write(descriptor, base + done, buffer.count - done)
      if count > 0 {
        done += count
      } else if count < 0 && errno == EAGAIN {
        // Another process that shares a pipe may have set it to nonblocking.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      } else if !(count < 0 && errno == EINTR) {
        return false
      }
    }
    return true
  }
}

/// Waits until an open file or directory is on disk. Returns `false` on an error, with `errno` set.
package func syncToDisk(_ descriptor: Int32) -> Bool {
  #if canImport(Darwin)
    // `fsync` leaves the data in the drive's cache. Not every file system supports the other call.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
  #endif
  return fsync(descriptor) == 0
}

/// Calls `open`, for types with a method of that name.
package func openDescriptor(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

/// Calls `close`, for types with a method of that name.
package func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// Returns the size of the file at `path` in bytes; `nil` if it can't be read.
package func fileSize(_ path: String) -> Int? {
  let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard file >= 0 else { return nil }
  defer { closeDescriptor(file) }
  return fileSize(file)
}

/// Returns the size of an open file in bytes, and moves its offset to the end; `nil` if it is not seekable, as a pipe.
///
/// `lseek` needs no reason in a privacy manifest of Apple platforms, in contrast to `fstat`.
package func fileSize(_ descriptor: Int32) -> Int? {
  let end = lseek(descriptor, 0, SEEK_END)
  return end < 0 ? nil : Int(exactly: end)
}

/// The standard error stream.
@usableFromInline
package enum StandardError {
  /// Writes `line` and a line feed; errors are ignored, because there is nowhere to report them.
  @usableFromInline
  package static func print(_ line: String) { writeAll(Data("\(line)\n".utf8), to: STDERR_FILENO) }
}
