import PortableFoundation

extension DiskStore {
  /// The slow part of writing an entry, which is independent of the store.
  struct Writing: Sendable {
    let entry: CacheEntry
    let name: Name
    let directory: Directory
    let number: Int

    /// The name of the file until it is complete.
    var temporary: String { "\(DiskStore.temporaryPrefix)\(number)" }

    /// Writes and syncs the file under its temporary name, and returns its size and the `errno` of a failure.
    func save() -> (size: Int, failure: Int32?) {
      let bytes = entry.encoded(digest: name.digest)
      let file = openat(directory.descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return (bytes.count, errno) }
      let isWritten = writeAll(bytes, to: file) && fsync(file) == 0
      let reason = errno
      guard close(file) == 0 else { return (bytes.count, errno) }
      return (bytes.count, isWritten ? nil : reason)
    }

    /// Syncs the directory, so that the file's new name persists, and returns the `errno` of a failure.
    func sync() -> Int32? { fsync(directory.descriptor) == 0 ? nil : errno }
  }
}
