// Measures WebSockets: SocketBenchmarks [--url ws://…] [--messages N] [--soak]
// Echo round trips and throughput with the server at the URL, or with a loopback server in this process. --soak reports
// memory over many messages. `sockets.py` in this folder measures PyPI's `websockets` in the same way.
import Dispatch
import Foundation
import LoopbackServer
import NetLayer

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
let server = value("--url") == nil ? try LoopbackServer(logLimit: 0) { _ in .socket(.echo) } : nil
let url = value("--url") ?? server.map { "ws://127.0.0.1:\($0.port)/" } ?? ""
let network = Network()

/// Sends messages one at a time: each after the echo of the previous one.
func roundTrips(_ bytes: Int, _ count: Int) async throws -> (seconds: Double, cpu: Double) {
  try await network.withSocket(.get(url)) { socket in
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
func throughput(_ bytes: Int, _ count: Int) async throws -> (seconds: Double, cpu: Double) {
  try await network.withSocket(.get(url)) { socket in
    let data = Data(repeating: 120, count: bytes)
    let (start, cpu) = (DispatchTime.now().uptimeNanoseconds, cpuSeconds())
    let sending = Task { for _ in 0..<count { try await socket.send(.binary(data)) } }
    var iterator = socket.messages.makeAsyncIterator()
    for _ in 0..<count { _ = try await iterator.next() }
    try await sending.value
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, cpuSeconds() - cpu)
  }
}

func line(_ name: String, _ count: Int, _ bytes: Int, _ taken: (seconds: Double, cpu: Double)) {
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
  for bytes in [100, 1024, 65_536] { line("round trip, \(bytes) B", count, bytes, try await roundTrips(bytes, count)) }
  for bytes in [100, 1024] { line("pipelined, \(bytes) B", count * 5, bytes, try await throughput(bytes, count * 5)) }
  line("pipelined, 1 MB", 200, 1_000_000, try await throughput(1_000_000, 200))
}
server?.stop()
