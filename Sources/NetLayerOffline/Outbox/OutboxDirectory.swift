import PortableFoundation

/// The files of an outbox, one for each entry, and the lock of the process that sends.
final class OutboxDirectory: Sendable {
  struct File: Hashable {
    let name: OutboxName
    let hold: OutboxState.Hold?
    var text: String {
      if case .parked(let status) = hold { name.parked(status) } else { name.text }
    }
  }

  enum Content {
    case entry(OutboxEntry)
    /// Truncated or changed.
    case damaged
    /// Not readable now: a locked device, or too many open files.
    case unreadable(any Error)
    /// Removed by another process.
    case gone
  }

  private let directory: DurableDirectory
  /// Guards the lock and the number of its users in this process, which are its sender and calls of `drop` and `retry`.
  private let lock = Locked<(file: DurableDirectory?, users: Int)>((nil, 0))
  /// Keeps the outboxes of this process on the same directory from adding and renaming entries at the same time.
  private let turn: Turn
  private let isOnTransportThread: @Sendable () -> Bool
  /// The entries that are known without a listing; `nil` before the first one.
  let known = Locked<Known?>(nil)

  /// The file that the sending process locks. Its content counts the entries that all processes add.
  static let marker = "netlayer-outbox"

  var descriptor: Int32 { directory.descriptor }
  var path: String { directory.path }

  /// Opens the directory at `url`, which is created if it is missing.
  ///
  /// - Parameter isOnTransportThread: A closure that returns whether the current thread serves all requests, so that it may
  ///   not wait for another process.
  init(_ url: URL, isOnTransportThread: @escaping @Sendable () -> Bool = { false }) throws {
    var isOpenToOthers = false
    self.isOnTransportThread = isOnTransportThread
    do {
      directory = try DurableDirectory(path: DurableDirectory.createFolder(url.path)) { descriptor in
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_uid == geteuid() else { return false }
        // They could remove the files of writes, or rename them to another state.
        isOpenToOthers = info.st_mode & (S_IWGRP | S_IWOTH) != 0
        return !isOpenToOthers
      }
    } catch {
      guard isOpenToOthers else { throw error }
      throw NetworkError(
        kind: .file,
        reason: "the directory \(url.path) of the outbox can be changed by other users; remove their permission "
          + "(chmod go-w), or choose another directory", underlying: error)
    }
    turn = Turn.of(directory.descriptor)
  }

  /// Runs `body` while no other call adds or renames entries, neither in this process nor in another one.
  ///
  /// - Parameter patience: The maximum time to wait for another process, which needs some milliseconds; by default a second,
  ///   and none on the transport's thread.
  /// - Throws: `POSIXError`: `EWOULDBLOCK` after that time.
  func alone<Value>(patience: Duration? = nil, _ body: () throws -> Value) throws -> Value {
    var end: ContinuousClock.Instant?
    while true {
      // Nothing waits for another process inside the lock, which that process could hold up for others of this one.
      let value = try turn.lock.withLock { _ -> Value? in
        guard lockDirectory() else { return nil }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
      }
      if let value { return value }
      let deadline = end ?? .now + (patience ?? (isOnTransportThread() ? .zero : Self.patience))
      guard .now < deadline else { throw POSIXError(.EWOULDBLOCK) }
      end = deadline
      usleep(1000)
    }
  }

  /// The maximum time for which `send` waits for another process.
  static let patience = Duration.seconds(1)

  /// Takes the lock of the directory, and returns whether no other process has it.
  private func lockDirectory() -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      // A file system without locks for directories returns another error. One process can use it.
      guard errno == EINTR else { break }
    }
    return true
  }

  /// Returns the files of entries. Others, such as damaged ones that were set aside, are ignored.
  func files() throws -> [File] {
    try directory.names().compactMap { OutboxName.read($0).map { File(name: $0.name, hold: $0.hold) } }
  }

  func read(_ file: File) -> Content {
    do {
      guard let (bytes, isOwn) = try directory.read(file.text, limit: Self.maxSize) else { return .gone }
      return isOwn ? OutboxEntry(bytes, id: file.name.id).map { .entry($0) } ?? .damaged : .damaged
    } catch {
      return SystemError.code(of: error) == EFBIG ? .damaged : .unreadable(error)
    }
  }

  /// A limit of memory, far above any limit of `send`.
  private static let maxSize = 1 << 30

  /// Writes a new entry, which is on disk when this function returns. After an error, there is no file.
  func write(_ entry: OutboxEntry, as name: OutboxName) throws {
    let bytes = try entry.bytes
    try countAddition()
    do {
      try directory.write(bytes, as: name.text)
      note(File(name: name, hold: nil))
    } catch {
      // It may have its name already. It must not be sent, because the caller does not know of it.
      directory.remove(name.text)
      throw error
    }
  }

  /// Removes an entry. It remains removed after a power cut.
  ///
  /// - Throws: The error of the system if the file is still there.
  func remove(_ file: File) throws {
    try directory.removeDurably(file.text)
    noteRemoval(of: file)
  }

  func contains(_ file: File) -> Bool {
    let descriptor = directory.open(file.text)
    if descriptor >= 0 { closeDescriptor(descriptor) }
    return descriptor >= 0
  }

  /// Renames an entry to another state. Its content remains, so this also succeeds on a full disk.
  func rename(_ file: File, _ hold: OutboxState.Hold?) throws -> File {
    let new = File(name: file.name, hold: hold)
    try rename(file.text, new.text)
    note(new)
    return new
  }

  /// Sets a damaged file aside, and returns its new name.
  func setAside(_ file: File) throws -> String {
    let name = "damaged-\(file.text)"
    try rename(file.text, name)
    noteRemoval(of: file)
    return name
  }

  private func rename(_ old: String, _ new: String) throws {
    // A listing during the change may have neither name, so that an equal write would be added.
    try alone {
      guard renameat(directory.descriptor, old, directory.descriptor, new) == 0 else { throw SystemError.last }
      try directory.sync()
    }
  }

  /// Takes the lock for this process, and takes it again if its file was removed. Each success must be paired with one `unlock`.
  ///
  /// - Throws: `POSIXError`: `EWOULDBLOCK` if another process sends.
  func takeLock() throws {
    try lock.withLock { lock in
      if lock.file?.isLocked != true {
        lock.file = try DurableDirectory(path: directory.path, marker: Self.marker)
      }
      lock.users += 1
    }
  }

  /// Whether no other process can have the lock of this one. It could if the locked file was removed.
  var isLocked: Bool { lock.withLock { $0.file?.isLocked == true } }

  func unlock() {
    lock.release { lock -> DurableDirectory? in
      lock.users -= 1
      return lock.users == 0 ? lock.file.take() : nil
    }
  }

  /// Removes the unfinished files of processes that have ended.
  func sweep() { try? directory.sweep() }
}

/// The lock that the outboxes of this process on one directory share.
private final class Turn: Sendable {
  /// Guards the names of the entries' files. Held for a change of them, and never while another process is waited for.
  let lock = Locked(())

  private struct Known { weak var turn: Turn? }

  /// The locks of the open directories, by device and inode.
  private static let all = Locked<[[UInt64]: Known]>([:])

  static func of(_ descriptor: Int32) -> Turn {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return Turn() }
    let directory = [UInt64(truncatingIfNeeded: info.st_dev), UInt64(truncatingIfNeeded: info.st_ino)]
    return all.withLock { all in
      if let turn = all[directory]?.turn { return turn }
      let turn = Turn()
      all = all.filter { $0.value.turn != nil }
      all[directory] = Known(turn: turn)
      return turn
    }
  }
}
