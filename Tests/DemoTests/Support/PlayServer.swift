import XCTest

/// A process of `Demo serve`, a server for tests of the other commands.
final class PlayServer {
  private let process: DemoProcess
  let url: String

  init() throws {
    // It serves several processes, each with a limit of its own.
    process = try DemoProcess(["serve", "--json"], limit: 300)
    url = try XCTUnwrap(try object(process.line())["url"] as? String)
  }

  deinit {
    process.interrupt()
    _ = process.wait()
  }
}
