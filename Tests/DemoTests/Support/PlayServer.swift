import XCTest

/// A run of `Demo serve`, for the other commands.
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
