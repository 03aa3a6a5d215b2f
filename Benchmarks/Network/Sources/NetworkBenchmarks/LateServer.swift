import Foundation
import LoopbackServer
import NetLayer

/// A server that responds after 10 to 50 ms, like a server on another machine. It runs in a separate process, because
/// CPU time is counted per process.
struct LateServer {
  let url: URL
  private let process = Process()
  private let input = Pipe()

  /// Prints the server's URL, and serves until the end of standard input.
  ///
  /// - Parameter delay: The delay of the responses in seconds; `nil` for 10 to 50 ms.
  static func serve(delay: Double?) throws {
    let content = [UInt8](Payloads.small)
    let server = try TestServer(logLimit: 0) { _ in
      TestServer.Response.bytes(content).delayed(by: delay ?? .random(in: 0.01...0.05))
    }
    say(server.url.absoluteString)
    while readLine() != nil {}
    server.stop()
  }

  /// Measures every client against the server, with 64 requests in flight.
  static func measure(_ options: Options) throws -> [[String: Any]] {
    let server = try LateServer()
    defer { server.stop() }
    let clients = try Clients.all(server.url.appending(path: "user.json"), bytes: Payloads.small.count)
    return Throughput(options: options, clients: clients, server: "10-50 ms").run(inFlight: 64).map(\.json)
  }

  /// Starts a server with responses after `delay` seconds, or after 10 to 50 ms.
  init(delay: Double? = nil) throws {
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["serve"] + (delay.map { ["\($0)"] } ?? [])
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
