import PortableFoundation

extension DiskStore {
  /// Opens, locks and sweeps the directory and returns it, or returns `nil` if that fails now.
  func opened() -> Directory? {
    if let directory, !directory.isGone { return directory }
    directory = nil
    files = LeastRecentlyUsed(limit: files.limit)
    pending = [:]
    guard let opened = open(), sweep(opened) else { return nil }
    directory = opened
    missed = []
    return opened
  }

  private func open() -> Directory? {
    var creation: Int32?
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      creation = SystemError.code(of: error)
    }
    let directory = openDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      // If the directory could not be created, its absence is not the cause to report.
      tellUnusable(errno == ENOENT ? creation ?? errno : errno)
      return nil
    }
    if let problem = problem(of: directory) {
      tell(
        "the cache directory \(path) \(problem), so responses are kept in memory only; pass a new or empty directory")
      _ = close(directory)
      return nil
    }
    let lock = openat(directory, Self.marker, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard lock >= 0, fchmod(directory, 0o700) == 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      if lock >= 0, errno == EWOULDBLOCK {
        tell(
          "another cache uses the directory \(path), so responses are kept in memory only; use one directory per cache")
      } else {
        tellUnusable(errno)
      }
      if lock >= 0 { _ = close(lock) }
      _ = close(directory)
      return nil
    }
    return Directory(descriptor: directory, lock: lock)
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
    // Version 0.1 named the marker `lock`, which other programs do, too.
    let isOwn = names.contains("lock") && names.allSatisfy { $0 == "lock" || Self.isOwn($0) }
    return names.isEmpty || isOwn ? nil : "contains files of other programs"
  }

  func tellUnusable(_ reason: Int32) {
    tell(
      "the cache directory \(path) can't be used now, so responses are kept in memory only: "
        + String(cString: strerror(reason)))
  }
}
