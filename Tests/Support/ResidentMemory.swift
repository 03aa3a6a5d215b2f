import Foundation

/// Returns the resident memory of this process in bytes; `nil` if the system does not provide it, or under Address
/// Sanitizer, which delays the reuse of 256 MB.
package func residentBytes() -> Int? {
  guard dlsym(dlopen(nil, RTLD_NOW), "__asan_init") == nil else { return nil }
  let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
  return fields.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 * 4096 }
}

/// Returns the number of bytes by which `work` has increased the resident memory of this process.
///
/// It is `nil` if the system does not provide it, or under a sanitizer, which uses memory of its own.
package func residentGrowth(_ work: () throws -> Void) rethrows -> Int? {
  guard let before = residentBytes(), dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") == nil else { return nil }
  try work()
  return residentBytes().map { $0 - before }
}

/// Returns the number of bytes by which the resident memory of this process has at most grown during `work`; `nil` as above.
package func residentPeak(during work: () throws -> Void) rethrows -> Int? {
  guard residentGrowth({}) != nil, let before = residentBytes() else { return nil }
  let peak = Box(0), isOver = Box(false)
  let watch = Thread {
    while !isOver.value {
      let now = residentBytes() ?? 0
      peak.update { $0 = max($0, now) }
      usleep(500)
    }
  }
  watch.start()
  defer { isOver.value = true }
  try work()
  return peak.value - before
}
