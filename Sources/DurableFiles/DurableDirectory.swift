import PortableFoundation

/// The failure to create a missing folder.
package struct FolderError: Error, CustomStringConvertible {
  package let path: String
  package let cause: any Error

  package var description: String { "the folder \(path) can't be created: \(SystemError.text(of: cause))" }
}

/// An open directory whose files survive a crash of the program and of the system: each is the old one or the complete
/// new one.
///
/// A new file has the name `.netlayer-new-UUID` until it is complete and on disk. It is locked meanwhile, so that other
/// processes recognize the files of a process that has ended.
package final class DurableDirectory: Sendable {
  /// The path with which the directory was opened.
  package let path: String
  package let descriptor: Int32
  /// The locked marker, and its name; -1 for none.
  private let lock: Int32
  private let marker: String?
  private let flush = DurableDirectory.flush

  /// A function that waits until an open file or directory is on disk, and returns `false` with `errno` on an error. A
  /// directory keeps the one with which it was opened. Tests replace it.
  @TaskLocal package static var flush: @Sendable (_ descriptor: Int32) -> Bool = syncToDisk

  /// Opens the directory at `path`.
  ///
  /// - Parameters:
  ///   - path: The path. The last component may not be a symbolic link.
  ///   - marker: The name of a file to create and lock; `nil` for none. One process at a time has the lock, until this
  ///     object is released.
  ///   - isUsable: A closure that returns whether the directory, which is open but not yet changed, may be used.
  /// - Throws: `POSIXError`: `EWOULDBLOCK` if another process has the lock, `EPERM` if the directory may not be used.
  package init(path: String, marker: String? = nil, isUsable: (_ descriptor: Int32) -> Bool = { _ in true }) throws {
    let directory = openDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else { throw SystemError.last }
    var file: Int32 = -1
    do {
      guard isUsable(directory) else { throw POSIXError(.EPERM) }
      if let marker {
        guard let locked = try openLocked(marker, in: directory) else { throw POSIXError(.EWOULDBLOCK) }
        file = locked
      }
    } catch {
      closeDescriptor(directory)
      throw error
    }
    (self.path, descriptor, lock, self.marker) = (path, directory, file, marker)
  }

  /// Creates the folder at `path` and those above it with mode 0700, if they are missing. Returns its path behind the
  /// symbolic links of this user, which may lead to a missing folder.
  ///
  /// - Throws: `FolderError`.
  @discardableResult
  package static func createFolder(_ path: String) throws(FolderError) -> String {
    let target = followingOwnLinks(path)
    do {
      try FileManager.default.createDirectory(
        atPath: target, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw FolderError(path: path, cause: error)
    }
    return target
  }

  deinit {
    closeDescriptor(descriptor)
    if lock >= 0 { closeDescriptor(lock) }
  }

  /// Whether the lock excludes other processes: one that finds the marker removed or replaced locks another file.
  package var isLocked: Bool { marker.map { isFile(lock, named: $0, in: descriptor) } ?? false }

  /// The names of all files.
  package func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

  /// Opens the file `name` for reading, and returns -1 with `errno` on an error. Neither follows a symbolic link, nor
  /// waits for the writer of a FIFO.
  package func open(_ name: String) -> Int32 {
    openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Returns the bytes of the file `name`, and whether nobody but this user can have written them; `nil` if there is no
  /// file.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `POSIXError`: `EFBIG` beyond the limit.
  package func read(_ name: String, limit: Int) throws -> (bytes: Data, isOwn: Bool)? {
    let file = open(name)
    guard file >= 0 else {
      guard errno == ENOENT else { throw SystemError.last }
      return nil
    }
    defer { closeDescriptor(file) }
    // A FIFO has no size, and reads as empty.
    let size = fileSize(file) ?? 0
    guard size <= limit else { throw POSIXError(.EFBIG) }
    var bytes = Data(count: size)
    guard bytes.withUnsafeMutableBytes({ Self.fill($0, from: file) }) else { throw SystemError.last }
    // Without a name, another process has replaced or removed the file meanwhile.
    if Self.links(of: file) == 0 { return try read(name, limit: limit) }
    return (bytes, Self.isOwn(file))
  }

  private static func links(of descriptor: Int32) -> Int {
    var info = stat()
    return fstat(descriptor, &info) == 0 ? Int(info.st_nlink) : -1
  }

  /// Writes `bytes` as the file `name`, which is on disk when this function returns.
  ///
  /// - Throws: `POSIXError`. The old file remains, or the new one is not certain to survive a power cut.
  package func write(_ bytes: Data, as name: String, mode: mode_t = 0o600) throws {
    try create(bytes, mode: mode).rename(to: name)
    try sync()
  }

  /// Writes `bytes` under a new name. The file is on disk when this function returns, and removed unless it is renamed.
  ///
  /// - Parameter isCache: Whether the file may be lost in a power cut, because it can be loaded again.
  package func create(_ bytes: Data, mode: mode_t = 0o600, isCache: Bool = false) throws -> NewFile {
    let file = try NewFile(in: self, mode: mode)
    guard writeAll(bytes, to: file.descriptor), isCache ? fsync(file.descriptor) == 0 : flush(file.descriptor)
    else { throw SystemError.last }
    return file
  }

  /// Syncs the directory, so that new names of files persist.
  package func sync() throws {
    guard flush(descriptor) else { throw SystemError.last }
  }

  /// Removes the file `name`, if it exists.
  package func remove(_ name: String) { _ = unlinkat(descriptor, name, 0) }

  /// Removes the file `name`, if it exists. It remains removed after a power cut.
  ///
  /// - Throws: `POSIXError` if the file is still there.
  package func removeDurably(_ name: String) throws {
    guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw SystemError.last }
    try sync()
  }

  /// Removes the unfinished files of processes that have ended.
  package func sweep() throws {
    for name in try names() where Self.isUnfinished(name) {
      let file = open(name)
      guard file >= 0 else { continue }
      // Its writer has the lock until the file has its final name.
      if Self.isOwn(file, hasOneName: true), flock(file, LOCK_EX | LOCK_NB) == 0 { remove(name) }
      closeDescriptor(file)
    }
  }

  /// Returns whether `name` is the name of an unfinished file.
  package static func isUnfinished(_ name: String) -> Bool {
    name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
  }

  private static let prefix = ".netlayer-new-"

  /// Returns whether nobody but this user can write to an open regular file.
  ///
  /// - Parameter hasOneName: Whether the file may have no second name, because it is changed or removed, and not only read or
  ///   replaced. A backup of the user can consist of second names.
  package static func isOwn(_ descriptor: Int32, hasOneName: Bool = false) -> Bool {
    var info = stat()
    return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_uid == geteuid()
      && info.st_mode & (S_IWGRP | S_IWOTH) == 0 && (info.st_nlink == 1 || !hasOneName)
  }

  /// Returns the path of the directory to which the symbolic links of this user at `path` lead. Links of other users remain,
  /// because they could lead anywhere.
  package static func followingOwnLinks(_ path: String) -> String {
    var path = path
    for _ in 0..<32 {
      var info = stat()
      guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFLNK, info.st_uid == geteuid(),
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      else { break }
      path = target.hasPrefix("/") ? target : URL(filePath: path).deletingLastPathComponent().path + "/" + target
    }
    return path
  }

  /// Reads from `offset` of `file` until `bytes` are full.
  package static func fill(_ bytes: UnsafeMutableRawBufferPointer, from file: Int32, at offset: Int64 = 0) -> Bool {
    var done = 0
    while done < bytes.count {
      let place = off_t(offset) + off_t(done)
      let count = pread(file, bytes.baseAddress.map { $0 + done }, bytes.count - done, place)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// A file that does not have its final name yet. It is removed if this object is released before that.
  package final class NewFile: @unchecked Sendable {  // safe: used by one thread at a time
    private let directory: DurableDirectory
    private var name: String?
    fileprivate private(set) var descriptor: Int32 = -1

    fileprivate init(in directory: DurableDirectory, mode: mode_t) throws {
      self.directory = directory
      for _ in 0..<100 {
        let name = prefix + UUID().uuidString
        let file = openat(directory.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw SystemError.last }
        // A file system without locks also prevents that another process sweeps the file.
        let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
        var info = stat()
        if isLocked, fstat(file, &info) == 0, info.st_nlink > 0 {
          (descriptor, self.name) = (file, name)
          return
        }
        // Another process has swept the file before it was locked.
        closeDescriptor(file)
      }
      throw POSIXError(.EAGAIN)
    }

    deinit {
      if let name { directory.remove(name) }
      if descriptor >= 0 { closeDescriptor(descriptor) }
    }

    /// Renames the file to its final name, and replaces an existing file.
    package func rename(to name: String) throws {
      guard let old = self.name, renameat(directory.descriptor, old, directory.descriptor, name) == 0 else {
        throw SystemError.last
      }
      self.name = nil
    }

    /// Returns the open and locked file, which this object no longer closes.
    package func release() -> Int32 { exchange(&descriptor, with: -1) }
  }
}
