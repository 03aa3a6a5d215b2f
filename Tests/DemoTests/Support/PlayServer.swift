import XCTest

/// A process of `Demo serve`, a server for tests of the other commands.
final class PlayServer {
  private let process: DemoProcess
  let url: String

  init() throws {
    process = try DemoProcess(["serve", "--json"])
    url = try XCTUnwrap(try object(process.line())["url"] as? String)
  }

  deinit {
    process.interrupt()
    _ = process.wait()
  }
}
