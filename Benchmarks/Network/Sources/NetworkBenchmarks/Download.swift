import Foundation
import NetLayer
import Streams
import Synchronization

#if os(Linux)
  /// A download of one gigabyte to a file and as a stream, compared with the `curl` tool.
  struct Download {
    let nginx: Nginx
    let rounds: Int

    private static let size = 1 << 30

    func run() throws -> [[String: Any]] {
      let name = "large"
      guard nginx.addSparseFile(name, size: Self.size) else {
        say("download: skipped, there is no space for a file of 1 GB")
        return []
      }
      guard let curl = ["/usr/bin/curl", "/usr/local/bin/curl"].first(where: FileManager.default.isExecutableFile)
      else {
        say("download: skipped, curl is not installed (Debian: apt-get install curl)")
        return []
      }
      let url = nginx.url.appending(path: name)
      let file = URL(filePath: NSTemporaryDirectory()).appending(path: "network-benchmarks-\(getpid()).download")
      defer { try? FileManager.default.removeItem(at: file) }
      let transport = try CurlTransport()
      let ways: [(String, () throws -> Bool)] = [
        ("curl to a file", { try Self.tool(curl, url, to: file.path) }),
        ("curl to a file, saved", { try Self.tool(curl, url, to: file.path) && Self.save(file) }),
        ("CurlTransport to a file", { Self.toFile(transport, url, file) }),
        ("curl to /dev/null", { try Self.tool(curl, url, to: "/dev/null") }),
        ("CurlTransport as a stream", { Self.asStream(transport, url) }),
      ]
      var times: [String: [Double]] = [:]
      var most = 0.0
      let before = Memory.resident ?? 0
      for _ in 0..<rounds {
        for (name, way) in ways {
          try? FileManager.default.removeItem(at: file)
          let start = ContinuousClock.now
          guard try way() else {
            say("download: \(name) failed")
            return []
          }
          times[name, default: []].append((ContinuousClock.now - start) / Duration.seconds(1))
          most = max(most, (Memory.resident ?? 0) - before)
        }
      }
      var rows: [[String: Any]] = []
      for (name, _) in ways {
        guard let seconds = times[name]?.median else { continue }
        rows.append(["name": "1 GB, \(name)", "unit": "s", "ours": seconds])
        say(String(format: "1 GB, \(name): %.2f s", seconds))
      }
      say(String(format: "memory grew by at most %.1f MB", most / 1e6))
      return rows
    }

    private static func tool(_ program: String, _ url: URL, to path: String) throws -> Bool {
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = ["-s", "-f", "--noproxy", "*", "-o", path, url.absoluteString]
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus == 0
    }

    /// Waits until the file is on disk, as a download does.
    private static func save(_ file: URL) -> Bool {
      let descriptor = open(file.path, O_WRONLY)
      defer { close(descriptor) }
      return fsync(descriptor) == 0
    }

    private static func toFile(_ transport: CurlTransport, _ url: URL, _ file: URL) -> Bool {
      let isGood = Mutex(false)
      let done = DispatchSemaphore(value: 0)
      _ = transport.download(Request(url: url), to: file) { result in
        isGood.withLock { $0 = (try? result.get().status) == 200 }
        done.signal()
      }
      done.wait()
      let written = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
      return isGood.withLock { $0 } && written == size
    }

    private static func asStream(_ transport: CurlTransport, _ url: URL) -> Bool {
      let count = Mutex(0)
      let done = DispatchSemaphore(value: 0)
      _ = transport.stream(
        Request(url: url), progress: nil,
        receiver: StreamReceiver(
          head: { _ in },
          chunk: { chunk in
            count.withLock { $0 += chunk.count }
            return .continue
          }, completion: { _ in done.signal() }))
      done.wait()
      return count.withLock { $0 } == size
    }
  }
#endif
