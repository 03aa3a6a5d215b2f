import PortableFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskStore {
  /// An entry on its way to the disk: what takes time, and so needs no part of the store.
  struct Writing: Sendable {
    let entry: CacheEntry
    let name: Name
    let directory: Directory
    let number: Int

    /// The name that the file has until it is whole.
    var temporary: String { "\(DiskStore.temporaryPrefix)\(number)" }

    /// Writes the file under its temporary name, down to the disk; gives its size, and the `errno` of what failed.
    func save() -> (size: Int, failure: Int32?) {
      let bytes = entry.encoded(digest: name.digest)
      let file = openat(directory.descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return (bytes.count, errno) }
      let isWritten = bytes.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count {
          let count = write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { return false }
          done += count
        }
        return fsync(file) == 0
      }
      let reason = errno
      guard close(file) == 0 else { return (bytes.count, errno) }
      return (bytes.count, isWritten ? nil : reason)
    }

    /// Makes the file's new name last; gives the `errno` of what failed.
    func sync() -> Int32? { fsync(directory.descriptor) == 0 ? nil : errno }
  }
}
