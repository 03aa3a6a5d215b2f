import Foundation
import TestSupport
import XCTest

/// A process of the built executable, connected by pipes.
final class DemoProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private var buffer = Data()
  private let watchdog: DispatchWorkItem
  // `waitUntilExit` polls every 50 ms on Linux.
  private let exit = DispatchGroup()

  /// Starts `Demo` with `arguments`.
  ///
  /// - Parameters:
  ///   - limit: The time in seconds after which it is killed, so that a test fails instead of hanging.
  ///   - terminal: The terminal for standard output and standard error, instead of pipes.
  ///   - preparation: A shell command that runs before `Demo` in the same process, such as one that sets a limit.
  init(
    _ arguments: [String], readsInput: Bool = false, terminal: Terminal? = nil, environment: [String: String] = [:],
    preparation: String? = nil, limit: Double = 20
  ) throws {
    let demo = try Self.executable()
    if let preparation {
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", preparation + #" && exec "$0" "$@""#, demo.path] + arguments
    } else {
      process.executableURL = demo
      process.arguments = arguments
    }
    process.standardInput = readsInput ? input : FileHandle.nullDevice
    process.standardOutput = terminal?.program ?? output
    process.standardError = terminal?.program ?? errors
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 }
    ) { $1 }
    let process = process
    // The queue keeps the work until its time, also if it is cancelled. It must not keep the pipes open.
    watchdog = DispatchWorkItem { [process = WeakBox(process)] in process.value?.terminate() }
    exit.enter()
    process.terminationHandler = { [exit] _ in exit.leave() }
    do { try process.run() } catch {
      exit.leave()
      throw error
    }
    // Only the program may have it open, so that reading ends when the program exits.
    try terminal?.program.close()
    DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: watchdog)
  }

  deinit {
    watchdog.cancel()
    // Foundation on Linux never releases a process that has run, and thus not its pipes either.
    for pipe in [input, output, errors] {
      try? pipe.fileHandleForReading.close()
      try? pipe.fileHandleForWriting.close()
    }
  }

  /// Writes a line to the standard input of the program.
  func write(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  /// Closes the standard input of the program.
  func endInput() throws { try input.fileHandleForWriting.close() }

  /// Stops reading the output of the program, like `head`.
  func closeOutput() throws { try output.fileHandleForReading.close() }

  /// Whether the program has not ended yet.
  var isRunning: Bool { process.isRunning }

  func interrupt() { process.interrupt() }

  /// Waits for the next line of the output and returns it; `nil` at the end.
  func line() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = Data(buffer[(end + 1)...]) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      buffer.append(more)
    }
  }

  struct Result {
    var output: Data
    var errors: String
    var code: Int32
    var lines: [String] { String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init) }
  }

  /// Reads the rest of the output and waits for the exit.
  func finish(readingOutput: Bool = true) -> Result {
    var rest = buffer
    if readingOutput { rest.append(output.fileHandleForReading.readDataToEndOfFile()) }
    let findings = errors.fileHandleForReading.readDataToEndOfFile()
    return Result(output: rest, errors: String(decoding: findings, as: UTF8.self), code: wait())
  }

  /// Waits for the exit and returns the exit code.
  func wait() -> Int32 {
    exit.wait()
    watchdog.cancel()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  /// Runs `Demo` until it exits.
  static func run(_ arguments: String...) throws -> Result { try DemoProcess(arguments).finish() }

  private static func executable() throws -> URL {
    let places = [
      Bundle.main.bundleURL, Bundle(for: DemoProcess.self).bundleURL.deletingLastPathComponent(),
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
    ]
    let found = places.map { $0.appending(path: "Demo") }.first {
      FileManager.default.isExecutableFile(atPath: $0.path)
    }
    return try XCTUnwrap(found, "Demo is not beside the tests: \(places)")
  }
}

// Safe: Process.terminate may be called from any thread.
private struct WeakBox: @unchecked Sendable {
  weak var value: Process?

  init(_ value: Process) { self.value = value }
}

/// Parses a line of NDJSON.
func object(_ line: String?, file: StaticString = #filePath, line number: UInt = #line) throws -> [String: Any] {
  let text = try XCTUnwrap(line, "no line", file: file, line: number)
  let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
  return try XCTUnwrap(value as? [String: Any], text, file: file, line: number)
}
