#if !os(macOS) && !os(Linux)
  import Foundation
  import XCTest

  /// A replacement for Foundation's `Process`, which exists only on macOS and Linux. A test that starts a process is skipped.
  package final class Process {
    package enum TerminationReason { case exit, uncaughtSignal }

    package var executableURL: URL?
    package var arguments: [String]?
    package var environment: [String: String]?
    package var currentDirectoryURL: URL?
    package var standardInput: Any?
    package var standardOutput: Any?
    package var standardError: Any?
    package let isRunning = false
    package let processIdentifier: Int32 = 0
    package let terminationStatus: Int32 = 0
    package let terminationReason = TerminationReason.exit

    package init() {}

    package func run() throws { throw XCTSkip("this platform cannot start processes") }
    package func interrupt() {}
    package func terminate() {}
    package func waitUntilExit() {}
  }
#endif
