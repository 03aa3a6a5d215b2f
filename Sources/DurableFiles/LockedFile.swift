import PortableFoundation

/// Opens the file `name`, which is created if it is missing, and locks it. Returns `nil` if another open file has the lock.
///
/// - Throws: `POSIXError`.
package func openLocked(_ name: String, in directory: Int32 = AT_FDCWD, mode: mode_t = 0o600) throws -> Int32? {
  while true {
    let file = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
    guard file >= 0 else { throw SystemError.last }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let error = SystemError.last
      closeDescriptor(file)
      guard error.code == .EWOULDBLOCK else { throw error }
      return nil
    }
    if isFile(file, named: name, in: directory) { return file }
    // The owner of the lock has replaced or removed the file between the two steps.
    closeDescriptor(file)
  }
}

/// Returns whether `name` still refers to an open file.
package func isFile(_ descriptor: Int32, named name: String, in directory: Int32 = AT_FDCWD) -> Bool {
  var (mine, named) = (stat(), stat())
  return fstat(descriptor, &mine) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0
    && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
}
