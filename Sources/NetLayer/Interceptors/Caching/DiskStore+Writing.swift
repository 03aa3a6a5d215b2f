import PortableFoundation

extension DiskStore {
  /// The slow part of writing an entry, which is independent of the store.
  struct Writing: Sendable {
    let entry: CacheEntry
    let name: Name
    let directory: DurableDirectory
    let number: Int

    /// Writes and syncs the file under a temporary name, and returns its size.
    func save() -> (file: Result<DurableDirectory.NewFile, any Error>, size: Int) {
      let bytes = entry.encoded(digest: name.digest)
      return (Result { try directory.create(bytes, isCache: true) }, bytes.count)
    }
  }
}
