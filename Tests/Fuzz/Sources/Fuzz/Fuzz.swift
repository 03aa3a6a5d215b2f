import Foundation

/// The fuzz targets. Each is a function of arbitrary bytes that must not crash, read out of bounds or take a long time.
/// A wrong result also ends the process: see `check`.
///
/// To add a target, add a line here and, optionally, a folder with examples in `Seeds`.
let targets: [String: @Sendable (Data) -> Void] = [
  "addresses": fuzzAddresses,
  "cache": fuzzCache,
  "codings": fuzzCodings,
  "cookies": fuzzCookies,
  "dates": fuzzDates,
  "entries": fuzzEntries,
  "events": fuzzEvents,
  "har": fuzzHAR,
  "heads": fuzzHeads,
  "json": fuzzJSON,
  "lines": fuzzLines,
  "links": fuzzLinks,
  "multipart": fuzzMultipart,
  "ranges": fuzzRanges,
  "requests": fuzzRequests,
  "secrets": fuzzSecrets,
  "sockets": fuzzSockets,
  "uploads": fuzzUploads,
]

private let chosen: @Sendable (Data) -> Void = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = targets[name] else {
    fatalError("FUZZ_TARGET is \(name.debugDescription), not one of \(targets.keys.sorted())")
  }
  return target
}()

@main
enum Fuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(
      runDriver(&count, &arguments) { bytes, count in
        // A copy of exactly this size, so that the sanitizer detects reads beyond its end.
        chosen(bytes.map { Data(bytes: $0, count: count) } ?? Data())
        return 0
      })
  }
}

/// Runs the loop of libFuzzer, which calls the function with one input after another.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: inout CInt, _ arguments: inout UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Ends the process if `condition` is false. libFuzzer then stores the input.
func check(_ condition: Bool, _ complaint: @autoclosure () -> String) {
  if !condition { fatalError(complaint()) }
}
