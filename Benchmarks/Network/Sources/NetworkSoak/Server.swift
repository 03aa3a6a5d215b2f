#if os(Linux)
  import Foundation
  import LoopbackServer
  import Synchronization

  /// The server, in a process of its own: what it holds must not count as the client's.
  enum Server {
    /// Says where it listens, and serves until its standard input ends.
    static func run() throws {
      Limits.allowDescriptors(11_000)
      let content = Array((0..<1000).map { UInt8(97 + $0 % 26) })
      let open = Box()
      let server = try LoopbackServer(logLimit: 0) { request in
        let parts = request.path.split(separator: "/")
        switch parts.first {
        case "fault":
          return parts.last.flatMap { LoopbackServer.Fault(rawValue: String($0)) }?.response(to: request.path)
            ?? .status(404)
        case "slow": return LoopbackServer.Response.text("late").delayed(by: 600)
        case "open": return .text("\(open.count)")
        default: return .bytes(content)
        }
      }
      open.server = server
      say(server.url.absoluteString)
      while readLine() != nil {}
      server.stop()
    }

    /// Lets the handler ask the server that it belongs to.
    private final class Box: Sendable {
      private let kept = Mutex<LoopbackServer?>(nil)
      var server: LoopbackServer? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
      }
      var count: Int { server?.openConnectionCount ?? 0 }
    }
  }

  final class ServerProcess {
    let url: URL
    private let process = Process()
    private let input = Pipe()

    init() throws {
      let output = Pipe()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = ["serve"]
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

  enum Limits {
    /// Whether so many descriptors may be open.
    @discardableResult
    static func allowDescriptors(_ count: Int) -> Bool {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
      if limit.rlim_cur >= rlim_t(count) { return true }
      guard limit.rlim_max >= rlim_t(count) else { return false }
      limit.rlim_cur = rlim_t(count)
      return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }

    static var openDescriptors: Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    static var residentBytes: Double {
      let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
      return Double(text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Double(getpagesize())
    }
  }
#endif
