import PortableFoundation

extension DiskStore {
  /// Opens, locks and sweeps the directory and returns it, or returns `nil` if that fails now.
  func opened() -> DurableDirectory? {
    // A directory without its marker may have been removed, or belong to another cache.
    if let directory, directory.isLocked { return directory }
    directory = nil
    files = LeastRecentlyUsed(limit: files.limit)
    pending = [:]
    guard let opened = open(), sweep(opened) else { return nil }
    directory = opened
    missed = []
    return opened
  }

  private func open() -> DurableDirectory? {
    var problem: String?
    do {
      let directory = try DurableDirectory(path: DurableDirectory.createFolder(path), marker: Self.marker) {
        problem = self.problem(of: $0)
        return problem == nil
      }
      guard fchmod(directory.descriptor, 0o700) == 0 else { throw SystemError.last }
      return directory
    } catch {
      if let problem {
        report(
          "the cache directory \(path) \(problem), so responses are kept in memory only; pass a new or empty directory")
      } else if SystemError.code(of: error) == EWOULDBLOCK {
        report(
          "another cache uses the directory \(path), so responses are kept in memory only; use one directory per cache")
      } else {
        reportUnusable(SystemError.code(of: (error as? FolderError)?.cause ?? error) ?? EIO)
      }
      return nil
    }
  }

  /// Returns why the store must not touch the files of `directory`; `nil` if it is empty, or its marker shows that a
  /// store has created its files.
  private func problem(of directory: Int32) -> String? {
    var info = stat()
    guard fstat(directory, &info) == 0, info.st_uid == geteuid() else { return "belongs to another user" }
    if fstatat(directory, Self.marker, &info, AT_SYMLINK_NOFOLLOW) == 0 {
      return info.st_uid == geteuid() ? nil : "contains files of another user"
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return "can't be listed" }
    return names.isEmpty ? nil : "contains files of other programs"
  }

  func reportUnusable(_ reason: Int32) {
    report(
      "the cache directory \(path) can't be used now, so responses are kept in memory only: "
        + "\(String(cString: strerror(reason))); make it writable, or pass another directory")
  }
}
