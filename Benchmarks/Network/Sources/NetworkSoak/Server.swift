#if os(Linux)
  import Foundation
  @_spi(Faults) import LoopbackServer
  import Synchronization

  /// The server, in a separate process, so that its resources do not count as the client's.
  enum Server {
    /// Prints the server's URL, and serves until the end of standard input.
    static func run() throws {
      Limits.allowDescriptors(11_000)
      let open = Box()
      let lines = Lines()
      let server = try TestServer(maxLoggedRequests: 0) { request in
        let parts = request.path.split(separator: "/")
        switch parts.first {
        case "fault":
          return parts.last.flatMap { TestServer.Fault(rawValue: String($0)) }?.response(to: request.path)
            ?? .status(404)
        case "slow": return TestServer.Response.text("late").delayed(by: 600)
        case "open": return .text("\(open.count)")
        case "echo": return .socket(faultyEcho)
        case "lines": return lines.respond(parts, key: request.header("Idempotency-Key"))
        case "report": return lines.report
        case "ok": return .bytes(Array(content(of: parts.last.flatMap { Int($0) } ?? -1)))
        default: return .status(404)
        }
      }
      open.server = server
      say(server.url.absoluteString)
      while readLine() != nil {}
      server.stop()
    }

    /// Returns each message, but ends one connection in 200 messages.
    private static let faultyEcho = TestServer.WebSocketScript { message in
      switch Int.random(in: 0..<600) {
      case 0: [.end]
      case 1: [.reset]
      case 2: [.close(1012, "restart")]
      default: TestServer.WebSocketScript.echo.onMessage(message)
      }
    }

    /// Returns the 1000 bytes of the response to the request `id`, which differ from those of any other request.
    static func content(of id: Int) -> Data {
      let name = Data("\(id) ".utf8)
      return name + filler.prefix(1000 - name.count)
    }

    private static let filler = Data((0..<1000).map { UInt8(97 + $0 % 26) })

    /// A reference through which the handler accesses its server.
    private final class Box: Sendable {
      private let kept = Mutex<TestServer?>(nil)
      var server: TestServer? {
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
    /// Raises the limit of open descriptors to `count`, and returns whether that is allowed.
    @discardableResult
    static func allowDescriptors(_ count: Int) -> Bool {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
      if limit.rlim_cur >= rlim_t(count) { return true }
      guard limit.rlim_max >= rlim_t(count) else { return false }
      limit.rlim_cur = rlim_t(count)
      return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }

    static var openDescriptors: Int { list("/proc/self/fd").count }

    /// Returns the names in a folder. Retries, because an entry that disappears during the listing makes it fail.
    private static func list(_ folder: String) -> [String] {
      for _ in 0..<10 {
        if let names = try? FileManager.default.contentsOfDirectory(atPath: folder) { return names }
      }
      return []
    }

    /// The numbers of open descriptors and of transport threads.
    static var held: [Int] {
      let names = list("/proc/self/task").compactMap {
        try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
      }
      return [openDescriptors, names.count { $0.hasPrefix("NetLayer") }]
    }

    /// Waits up to ten seconds until at most `goal` is held, and returns the numbers at that time.
    static func wait(until goal: [Int]) -> [Int] {
      for _ in 0..<100 {
        if zip(held, goal).allSatisfy({ $0 <= $1 }) { break }
        Thread.sleep(forTimeInterval: 0.1)
      }
      return held
    }

    /// Opens the resources that system libraries open once, such as Dispatch's descriptors for timers, so that they do
    /// not count as leaks.
    static func warmUp() {
      let done = DispatchSemaphore(value: 0)
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.001) { done.signal() }
      done.wait()
    }

    static var residentBytes: Double {
      let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
      return Double(text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Double(getpagesize())
    }
  }
#endif
