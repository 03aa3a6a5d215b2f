import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The open descriptors of the process.
package var openDescriptors: [Int32] {
  (0..<Int32(clamping: min(sysconf(Int32(_SC_OPEN_MAX)), 65_536))).filter { fcntl($0, F_GETFD) != -1 }
}

/// Returns how many descriptors of the process are open for the file or directory at `url`.
package func descriptors(of url: URL) -> Int {
  var named = stat()
  guard stat(url.path, &named) == 0 else { return 0 }
  return openDescriptors.count { descriptor in
    var info = stat()
    return fstat(descriptor, &info) == 0 && info.st_dev == named.st_dev && info.st_ino == named.st_ino
  }
}

/// Runs `work` while the process has only `left` free descriptors.
package func withoutDescriptors(but left: Int = 0, _ work: () throws -> Void) rethrows {
  var before = rlimit()
  #if canImport(Darwin)
    let limit = RLIMIT_NOFILE
  #else
    let limit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #endif
  getrlimit(limit, &before)
  var few = before
  // Relative to what is open, so that other tests do not matter.
  few.rlim_cur = rlim_t((openDescriptors.last ?? 2) + 1 + Int32(left))
  setrlimit(limit, &few)
  var taken: [Int32] = []
  defer {
    for descriptor in taken { close(descriptor) }
    setrlimit(limit, &before)
  }
  while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
  for _ in 0..<left { taken.popLast().map { _ = close($0) } }
  try work()
}

/// Runs `work` twenty times, and returns whether it has left no descriptor open. Other threads may close some of theirs
/// meanwhile, so fewer than one for each run do not count.
package func closesDescriptors(_ work: (_ round: Int) throws -> Void) rethrows -> Bool {
  let before = openDescriptors.count
  for round in 0..<20 { try work(round) }
  return holds(within: 20) { openDescriptors.count < before + 10 }
}
