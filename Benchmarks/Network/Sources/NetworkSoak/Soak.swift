#if os(Linux)
  import Foundation
  import LoopbackServer
  import NetLayer
  import Streams
  import Synchronization

  /// Many requests, 64 in flight, of which 5 % meet a fault and 10 % are cancelled: every one ends once and as it must,
  /// and what the process holds stays as it was.
  struct Soak {
    let server: URL

    func run(_ count: Int) throws -> Bool {
      let folder = FileManager.default.temporaryDirectory.appending(path: "soak-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      Limits.warmUp()
      let start = Limits.held
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 64, maxConnections: 64))
      // Until the allocator has seen the worst that comes at once; then it stays where it is.
      let warmUp = 2 * count
      let rounds = [Round(transport, server, folder, warmUp), Round(transport, server, folder, count)]
      var isGood = rounds[0].run()
      // Else the look at what is left would be worth nothing.
      guard Limits.held[1] == start[1] + 1 else {
        say("FAILED: the transport's thread is not seen")
        return false
      }
      let descriptors = Limits.openDescriptors
      let begin = ContinuousClock.now
      isGood = rounds[1].run() && isGood
      let seconds = (ContinuousClock.now - begin) / Duration.seconds(1)
      // The most of one series against the most of the other: at a moment of rest it depends on which handles served
      // streams last, whose buffers are eight times as large.
      let bytes = rounds.map(\.peakBytes)
      let growth = bytes[1] / bytes[0] - 1
      say(
        String(
          format:
            "soak: %d requests in %.1f s; memory %.1f MB at most in the %d before, %+.1f %% in these; descriptors %d, then %d",
          count, seconds, bytes[0] / 1e6, warmUp, growth * 100, descriptors, Limits.openDescriptors))
      // Kept connections may be more or fewer, by as many as there may be.
      let isFlat = growth <= 0.05 && Limits.openDescriptors <= descriptors + 64
      if !isFlat { say("FAILED: memory grew by more than 5 %, or descriptors were lost") }
      transport.shutdown()
      let left = Limits.wait(until: start)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      say(
        "soak: descriptors and threads of the transport at the start \(start), at the end \(left); \(files.count) files left"
      )
      for fault in rounds.compactMap(\.ledger.fault) { say("FAILED: \(fault)") }
      if left != start || !files.isEmpty { say("FAILED: something is left over") }
      return isGood && isFlat && left == start && files.isEmpty && rounds.allSatisfy { $0.ledger.fault == nil }
    }

    /// One series of requests.
    private final class Round: Sendable {
      private struct Tally {
        var started = 0
        var answered = 0
        var failed = 0
        var cancelled = 0
        var wrong: [String] = []
        var peakBytes = 0.0
        var random = SystemRandomNumberGenerator()
      }

      /// One request of them.
      private struct Item {
        let id: Int
        let fault: LoopbackServer.Fault?
        let cancels: Bool

        /// One in ten is a stream, one in fifty a download: each of these is a call of the system that waits for the disk.
        var isStream: Bool { id % 10 == 1 }
        var isFile: Bool { id % 50 == 0 }
      }

      let ledger: Ledger
      private let transport: CurlTransport
      private let server: URL
      private let folder: URL
      private let count: Int
      private let tally = Mutex(Tally())
      private let finished = DispatchSemaphore(value: 0)
      private static let faults = LoopbackServer.Fault.allCases

      /// The most memory that it held, looked at every thousand requests.
      var peakBytes: Double { tally.withLock { $0.peakBytes } }

      init(_ transport: CurlTransport, _ server: URL, _ folder: URL, _ count: Int) {
        self.transport = transport
        self.server = server
        self.folder = folder
        self.count = count
        ledger = Ledger(count)
      }

      func run() -> Bool {
        for _ in 0..<64 { next() }
        // One semaphore signal ends it; ten minutes are beyond any machine's slowness.
        guard finished.wait(timeout: .now() + 600) == .success else {
          say("FAILED: \(tally.withLock { $0.started - $0.answered - $0.failed - $0.cancelled }) requests did not end")
          return false
        }
        let (answered, failed, cancelled, wrong) = tally.withLock { ($0.answered, $0.failed, $0.cancelled, $0.wrong) }
        say("soak: \(count) requests: \(answered) answered, \(failed) failed as they must, \(cancelled) cancelled")
        for line in wrong.prefix(10) { say("FAILED: \(line)") }
        return wrong.isEmpty && answered + failed + cancelled == count
      }

      private func next() {
        let item = tally.withLock { tally -> Item? in
          guard tally.started < count else { return nil }
          tally.started += 1
          let isFault = Int.random(in: 0..<100, using: &tally.random) < 5
          let cancels = Int.random(in: 0..<100, using: &tally.random) < 10
          return Item(
            id: tally.started - 1, fault: isFault ? Self.faults.randomElement(using: &tally.random) : nil,
            cancels: cancels)
        }
        guard let item else { return }
        var request = Request(url: server.appending(path: item.fault.map { "fault/\($0.rawValue)" } ?? "ok/\(item.id)"))
        request.options.maxBodySize = 1 << 20
        // Only those may run into a limit of which it is expected.
        if item.fault?.kind == .timeout { request.timeouts = .init(connect: 5, idle: 0.2, total: 0.5) }
        let control = Control(item.cancels)
        if item.isStream {
          let body = Mutex(Data())
          let pending = transport.stream(request, progress: nil) { _ in
          } chunk: { chunk in
            body.withLock { $0 += chunk }
            return .continue
          } completion: { [self] result in
            end(item, result, body.withLock { $0 })
          }
          control.cancel(pending)
        } else {
          let completion: @Sendable (Result<Response, NetworkError>) -> Void = { [self] result in
            var body = (try? result.get().body) ?? Data()
            if item.isFile, let file = try? result.get().file {
              body = (try? Data(contentsOf: file)) ?? Data()
              try? FileManager.default.removeItem(at: file)
            }
            end(item, result, body)
          }
          control.cancel(
            item.isFile
              ? transport.download(request, to: folder.appending(path: "\(item.id)"), completion: completion)
              : transport.send(request, completion: completion))
        }
      }

      private func end(_ item: Item, _ result: Result<Response, NetworkError>, _ body: Data) {
        ledger.note(item.id)
        let bytes = item.id % 1000 == 0 ? Limits.residentBytes : 0
        let isLast = tally.withLock { tally in
          tally.peakBytes = Swift.max(tally.peakBytes, bytes)
          func wrong(_ what: String) {
            tally.wrong.append("request \(item.id), \(item.fault?.rawValue ?? "no fault"): \(what)")
          }
          switch result {
          case .success(let response):
            tally.answered += 1
            let expected = item.fault == nil ? Server.content(of: item.id) : Data("ok".utf8)
            if item.fault.map({ $0.kind != nil }) ?? false { wrong("answered, with \(response.status)") }
            if body != expected { wrong("\(body.count) bytes, which are not its own") }
          case .failure(let error) where error.kind == .cancelled:
            tally.cancelled += 1
            if !item.cancels { wrong("cancelled by nobody") }
          case .failure(let error):
            tally.failed += 1
            if item.fault?.kind != error.kind { wrong("\(error)") }
          }
          return tally.answered + tally.failed + tally.cancelled == count
        }
        if isLast { finished.signal() } else { next() }
      }
    }

    /// Whether a request is to be cancelled.
    private struct Control: Sendable {
      let isCancelled: Bool

      init(_ isCancelled: Bool) { self.isCancelled = isCancelled }

      /// At once, or when it has got some way.
      func cancel(_ pending: any Disposable) {
        guard isCancelled else { return }
        let delay = Double.random(in: 0..<0.003)
        if delay < 0.001 {
          pending.dispose()
        } else {
          DispatchQueue.global().asyncAfter(deadline: .now() + delay) { pending.dispose() }
        }
      }
    }
  }

  extension LoopbackServer.Fault {
    /// How a request that meets it must fail; `nil` where it is answered with "ok".
    fileprivate var kind: NetworkError.Kind? {
      switch self {
      case .neverResponding, .headStalled, .dripping, .stalledBody: .timeout
      case .lengthTooShort, .lengthAndChunks: nil
      case .redirectLoop, .redirectToFile: .redirect
      default: .connection
      }
    }
  }
#endif
