import PortableFoundation

extension OutboxDirectory {
  /// The files of entries as this process has last listed or changed them. Others may have removed or renamed some since then.
  struct Known {
    /// The count of additions of all processes, from a random start.
    fileprivate var additions: UInt64
    fileprivate var files: [UUID: File] = [:]
    fileprivate(set) var last: OutboxName?
  }

  var count: Int { known.withLock { $0?.files.count ?? 0 } }
  /// The last name that was known; `nil` for none.
  var last: OutboxName? { known.withLock { $0?.last } }
  /// Returns the known file of an entry; `nil` if it is unknown.
  func file(of id: UUID) -> File? { known.withLock { $0?.files[id] } }

  func contains(_ id: UUID) throws -> Bool {
    let isListed = try refresh() != nil
    if let file = file(of: id), isListed || contains(file) { return true }
    // Another process may have renamed it.
    if !isListed { try refresh(lists: true) }
    return file(of: id) != nil
  }

  /// Lists the directory, if another process has added an entry since the last listing: a `send` must not take longer with
  /// each entry. Without a race only inside `alone`.
  ///
  /// - Parameter lists: Whether it is listed in any case.
  /// - Returns: The files, if it was listed.
  @discardableResult
  func refresh(lists: Bool = false) throws -> [File]? {
    let additions = additions()
    let isCurrent = known.withLock { $0 != nil && $0?.additions == additions }
    if isCurrent, !lists { return nil }
    let files = try files()
    // Without the counter, no listing is current later.
    var new = Known(additions: additions ?? .max)
    for file in files { new.files[file.name.id] = file }
    new.last = files.max { $0.name < $1.name }?.name
    known.withLock { $0 = new }
    return files
  }

  func note(_ file: File) {
    known.withLock { known in
      known?.files[file.name.id] = file
      if known?.last.map({ $0 < file.name }) ?? true { known?.last = file.name }
    }
  }

  func noteRemoval(of file: File) { known.withLock { $0?.files[file.name.id] = nil } }

  // MARK: The counter in the marker

  /// Returns the number of entries that all processes have added; `nil` if it can't be known.
  ///
  /// The time of the directory would not do, because two additions within its resolution have the same.
  private func additions() -> UInt64? { try? withCounter { $0 } }

  /// Counts an addition, before it is made: a process that is killed in between makes the others list the directory.
  func countAddition() throws {
    let new = try withCounter { count in
      count &+= 1
      return count
    }
    // Another listing may have replaced the one that was current.
    known.withLock { if $0?.additions == new &- 1 { $0?.additions = new } }
  }

  private func withCounter<Value>(_ body: (inout UInt64) -> Value) throws -> Value {
    let file = openat(descriptor, Self.marker, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError.last }
    defer { closeDescriptor(file) }
    var count: UInt64 = 0
    let size = MemoryLayout.size(ofValue: count)
    let known = withUnsafeMutableBytes(of: &count) { pread(file, $0.baseAddress, size, 0) }
    guard known >= 0 else { throw SystemError.last }
    let old = count
    // A marker that was removed must not count to a number that was already known.
    if known < size { count = .random(in: 1 ... .max / 2) }
    let value = body(&count)
    guard count == old || withUnsafeBytes(of: count, { pwrite(file, $0.baseAddress, size, 0) }) == size else {
      throw SystemError.last
    }
    return value
  }
}
