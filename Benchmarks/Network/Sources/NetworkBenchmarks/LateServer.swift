import Foundation
import LoopbackServer
import NetLayer

/// A server that responds late, like a server on another machine. It runs in a separate process, because
/// CPU time is counted per process.
struct LateServer {
  let url: URL
  private let process = Process()
  private let input = Pipe()

  /// Prints the server's URL, and serves until the end of standard input.
  ///
  /// - Parameter delay: The delay of the responses in seconds.
  static func serve(delay: Double) throws {
    let content = [UInt8](Payloads.small)
    let server = try TestServer(maxLoggedRequests: 0) { _ in
      TestServer.Response.bytes(content).delayed(by: delay)
    }
    say(server.url.absoluteString)
    while readLine() != nil {}
    server.stop()
  }

  /// Measures every client against servers that respond after 1, 20 and 100 ms, with 64 requests in flight.
  static func measure(_ options: Options) throws -> [[String: Any]] {
    try [1, 20, 100].flatMap { milliseconds in
      let server = try LateServer(delay: Double(milliseconds) / 1000)
      defer { server.stop() }
      let clients = try Clients.all(
        Resource(url: server.url.appending(path: "user.json"), bytes: Payloads.small.count))
      return Throughput(options: options, clients: clients, server: "\(milliseconds) ms").run(inFlight: 64)
    }
  }

  /// Starts a server that responds after `delay` seconds.
  init(delay: Double) throws {
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["serve", "\(delay)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)), url.port != nil else {
      throw CocoaError(.fileReadUnknown)
    }
    self.url = url
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
