import Foundation
import NetLayer

/// A value that differs from the expected one.
struct Mismatch: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// The number of failed checks, and the values that `requests` got for the same calls.
@MainActor
enum Checks {
  private(set) static var failed = 0
  private static let reference = try? JSON(parsing: Data(contentsOf: Control.file("reference.json")))

  /// Runs `body` and prints a line with the result.
  static func check(_ name: String, _ body: () async throws -> Void) async {
    do {
      try await body()
      tell("ok    \(name)")
    } catch {
      failed += 1
      tell("FAIL  \(name): \(error)")
    }
  }

  /// Prints a line immediately, so that it is not lost if the client ends or waits.
  private static func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// Checks that `value` equals the value `key` of the reference.
  static func same(_ key: String, _ value: some Encodable) throws {
    guard let reference, reference[key].exists else { throw Mismatch("the reference has no value \(key)") }
    try equal(JSON(parsing: JSONEncoder().encode(value)), reference[key])
  }
}

@MainActor
func check(_ name: String, _ body: () async throws -> Void) async { await Checks.check(name, body) }

func equal<Value: Equatable>(_ value: Value, _ expected: Value) throws {
  guard value == expected else { throw Mismatch("\(value) instead of \(expected)") }
}

func expect(_ isMet: Bool, _ message: @autoclosure () -> String) throws {
  guard isMet else { throw Mismatch(message()) }
}

/// Returns the error of `body`.
@MainActor
func failure(_ body: () async throws -> Void) async throws -> NetworkError {
  do { try await body() } catch let error as NetworkError { return error }
  throw Mismatch("the call succeeded")
}

/// The files and programs of the script that has started the servers.
enum Control {
  static func file(_ name: String) -> URL {
    URL(filePath: ProcessInfo.processInfo.environment["SERVERS_WORK"] ?? ".").appending(path: name)
  }

  /// Ends a server with SIGKILL.
  static func kill(_ server: String) throws { try run("\(server).kill") }
  /// Starts a server that was ended, and waits until it listens.
  static func start(_ server: String) throws { try run("\(server).start") }

  private static func run(_ name: String) throws {
    let process = try Process.run(file(name), arguments: [])
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Mismatch("\(name) ended with \(process.terminationStatus)") }
  }
}
