import Foundation

/// What can be fuzzed: a function that takes any bytes, and must neither crash, nor read what is not its own, nor take long.
/// A wrong result ends the process, too: `check`.
///
/// A new one is a line here and, if it likes, a folder with examples in `Seeds`.
let targets: [String: @Sendable (Data) -> Void] = [
  "cache": fuzzCache,
  "events": fuzzEvents,
  "json": fuzzJSON,
  "lines": fuzzLines,
  "multipart": fuzzMultipart,
  "requests": fuzzRequests,
  "sockets": fuzzSockets,
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
        // A copy, so that a read beyond its end is one beyond an allocation of this size.
        chosen(bytes.map { Data(bytes: $0, count: count) } ?? Data())
        return 0
      })
  }
}

/// libFuzzer's loop: calls the function with input after input.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: inout CInt, _ arguments: inout UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Ends the process where a result is not what it must be; libFuzzer then keeps the input.
func check(_ condition: Bool, _ complaint: @autoclosure () -> String) {
  if !condition { fatalError(complaint()) }
}
