#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
  few.rlim_cur = 512
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
