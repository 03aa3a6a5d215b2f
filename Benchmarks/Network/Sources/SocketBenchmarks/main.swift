// Measures WebSockets: SocketBenchmarks [--url ws://127.0.0.1:…] [--messages N] [--only NAME] [--c | --soak]
// Echo round trips and throughput with the server at the URL, or with a loopback server in this process. --c measures a plain
// C loop instead. --soak reports memory over many messages. `sockets.py` in this folder measures PyPI's `websockets` in the
// same way, and compares the three.
import Dispatch
import Foundation
import LoopbackServer
import NetLayer
import SocketLoop

func value(_ name: String) -> String? {
  CommandLine.arguments.firstIndex(of: name).map { CommandLine.arguments.dropFirst($0 + 1).first ?? "" }
}

func resident() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
}

func cpuSeconds() -> Double {
  var usage = rusage()
  #if os(Linux)
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  #else
    getrusage(RUSAGE_SELF, &usage)
  #endif
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

let count = value("--messages").flatMap { Int($0) } ?? 20_000
let server = value("--url") == nil ? try TestServer(maxLoggedRequests: 0) { _ in .socket(.echo) } : nil
let url = value("--url") ?? server.map { "ws://127.0.0.1:\($0.port)/" } ?? ""
let isC = CommandLine.arguments.contains("--c")
let only = value("--only")
let network = Network()

typealias Taken = (seconds: Double, cpu: Double)

/// Sends messages one at a time: each after the echo of the previous one.
func roundTrips(_ bytes: Int, _ count: Int) async throws -> Taken {
  if isC { return try loop(isText: true, bytes, count, inFlight: 1) }
  return try await network.withWebSocket(.get(url)) { socket in
    let text = String(repeating: "x", count: bytes)
    var iterator = socket.messages.makeAsyncIterator()
    let (start, cpu) = (DispatchTime.now().uptimeNanoseconds, cpuSeconds())
    for _ in 0..<count {
      try await socket.send(text)
      _ = try await iterator.next()
    }
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, cpuSeconds() - cpu)
  }
}

/// Sends as fast as the socket accepts messages, and reads the echoes concurrently.
func throughput(_ bytes: Int, _ count: Int) async throws -> Taken {
  if isC { return try loop(isText: false, bytes, count, inFlight: 0) }
  return try await network.withWebSocket(.get(url)) { socket in
    let data = Data(repeating: 120, count: bytes)
    let (start, cpu) = (DispatchTime.now().uptimeNanoseconds, cpuSeconds())
    let sending = Task { for _ in 0..<count { try await socket.send(.binary(data)) } }
    var iterator = socket.messages.makeAsyncIterator()
    for _ in 0..<count { _ = try await iterator.next() }
    try await sending.value
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, cpuSeconds() - cpu)
  }
}

struct LoopFailure: Error, CustomStringConvertible { let description: String }

/// The C loop, which reaches 127.0.0.1 only.
func loop(isText: Bool, _ bytes: Int, _ count: Int, inFlight: Int) throws -> Taken {
  guard let port = URL(string: url)?.port else { throw LoopFailure(description: "\(url) has no port") }
  var result = socket_loop_result()
  if let failure = socket_loop_run(Int32(port), isText, bytes, count, inFlight, &result) {
    throw LoopFailure(description: "the C loop failed: \(String(cString: failure))")
  }
  return (result.seconds, result.cpu_seconds)
}

/// Measures one kind of messages, unless another one is asked for.
func measure(
  _ kind: String, _ bytes: Int, _ count: Int, _ body: (Int, Int) async throws -> Taken
) async throws {
  let size = bytes >= 1_000_000 ? "\(bytes / 1_000_000) MB" : "\(bytes) B"
  let name = "\(kind), \(size)"
  if only == nil || only == name { line(name, count, bytes, try await body(bytes, count)) }
}

func line(_ name: String, _ count: Int, _ bytes: Int, _ taken: Taken) {
  let rate = Double(count) / taken.seconds
  let name = name.padding(toLength: 24, withPad: " ", startingAt: 0)
  print(
    "\(name) \(Int(rate)) messages/s, \(String(format: "%.1f", taken.cpu / Double(count) * 1e6)) µs CPU each, "
      + "\(String(format: "%.1f", rate * Double(bytes) * 2 / 1e6)) MB/s both ways")
}

if CommandLine.arguments.contains("--soak") {
  let step = 100_000
  for round in 1...Swift.max(1, count / step) {
    let taken = try await throughput(100, step)
    print("\(round * step) messages, \(Int(Double(step) / taken.seconds)) messages/s, \(resident() >> 10) KB resident")
  }
} else {
  _ = try await roundTrips(100, 1000)
  for bytes in [100, 1024, 65_536] { try await measure("round trip", bytes, count, roundTrips) }
  for bytes in [100, 1024] { try await measure("pipelined", bytes, count * 5, throughput) }
  try await measure("pipelined", 1_000_000, 200, throughput)
}
server?.stop()
