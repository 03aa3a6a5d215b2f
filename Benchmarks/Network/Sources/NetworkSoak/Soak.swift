#if os(Linux)
  import Foundation
  @_spi(Faults) import LoopbackServer
  import NetLayer
  import Streams
  import Synchronization

  /// A test with many requests, 64 in flight, of which 5 % encounter a fault and 10 % are cancelled. Each must complete
  /// once with the expected outcome, and the process must hold the same resources afterwards.
  struct Soak {
    let server: URL

    func run(_ count: Int) throws -> Bool {
      let folder = FileManager.default.temporaryDirectory.appending(path: "soak-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      Limits.warmUp()
      let start = Limits.held
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 64, maxConnections: 64))
      // Runs until the allocator has reached its peak, after which memory stays constant.
      let warmUp = 2 * count
      let rounds = [Round(transport, server, folder, warmUp), Round(transport, server, folder, count)]
      var isGood = rounds[0].run()
      // Otherwise the check for leaked threads would be meaningless.
      guard Limits.held[1] == start[1] + 1 else {
        say("FAILED: the transport's thread was not found")
        return false
      }
      let descriptors = Limits.openDescriptors
      let begin = ContinuousClock.now
      isGood = rounds[1].run() && isGood
      let seconds = (ContinuousClock.now - begin) / Duration.seconds(1)
      // Compares the peak of one round with the peak of the other. Memory at rest depends on which handles served the
      // last streams, whose buffers are eight times as large.
      let bytes = rounds.map(\.peakBytes)
      let growth = bytes[1] / bytes[0] - 1
      say(
        String(
          format:
            "soak: %d requests in %.1f s; peak memory %.1f MB in the %d before, %+.1f %% in these; descriptors %d, then %d",
          count, seconds, bytes[0] / 1e6, warmUp, growth * 100, descriptors, Limits.openDescriptors))
      // The number of kept connections may change, up to the limit.
      let isFlat = growth <= 0.05 && Limits.openDescriptors <= descriptors + 64
      if !isFlat { say("FAILED: memory grew by more than 5 %, or descriptors leaked") }
      transport.shutdown()
      let left = Limits.wait(until: start)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      say(
        "soak: descriptors and threads of the transport at the start \(start), at the end \(left); \(files.count) files left"
      )
      for fault in rounds.compactMap(\.ledger.fault) { say("FAILED: \(fault)") }
      if left != start || !files.isEmpty { say("FAILED: descriptors, threads or files leaked") }
      return isGood && isFlat && left == start && files.isEmpty && rounds.allSatisfy { $0.ledger.fault == nil }
    }

    /// One series of requests.
    private final class Round: Sendable {
      private struct Tally {
        var started = 0
        var replied = 0
        var failed = 0
        var cancelled = 0
        var wrong: [String] = []
        var peakBytes = 0.0
        var random = SystemRandomNumberGenerator()
      }

      /// One request of the series.
      private struct Item {
        let id: Int
        let fault: TestServer.Fault?
        let cancels: Bool

        /// One request in ten is a stream, and one in fifty a download, because each download makes a system call that
        /// waits for the disk.
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
      private static let faults = TestServer.Fault.allCases

      /// The peak of the resident memory, sampled every thousand requests.
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
        // The semaphore is signaled once at the end. Ten minutes are enough for any machine.
        guard finished.wait(timeout: .now() + 600) == .success else {
          say(
            "FAILED: \(tally.withLock { $0.started - $0.replied - $0.failed - $0.cancelled }) requests did not complete"
          )
          return false
        }
        let (replied, failed, cancelled, wrong) = tally.withLock { ($0.replied, $0.failed, $0.cancelled, $0.wrong) }
        say("soak: \(count) requests: \(replied) succeeded, \(failed) failed as expected, \(cancelled) cancelled")
        for line in wrong.prefix(10) { say("FAILED: \(line)") }
        return wrong.isEmpty && replied + failed + cancelled == count
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
        // Only requests that are expected to time out have short limits.
        if item.fault?.kind == .timeout {
          request.timeouts = .init(connect: .seconds(5), idle: .seconds(0.2), attempt: .seconds(0.5))
        }
        let control = Control(item.cancels)
        if item.isStream {
          let body = Mutex(Data())
          let receiver = StreamReceiver { _ in
          } chunk: { chunk in
            body.withLock { $0 += chunk }
            return .continue
          } completion: { [self] result in
            end(item, result, body.withLock { $0 })
          }
          let pending = transport.stream(request, progress: nil, receiver: receiver)
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
            tally.replied += 1
            let expected = item.fault == nil ? Server.content(of: item.id) : Data("ok".utf8)
            if item.fault.map({ $0.kind != nil }) ?? false {
              wrong("unexpected response with status \(response.status)")
            }
            if body != expected { wrong("\(body.count) bytes of another response") }
          case .failure(let error) where error.kind == .cancelled:
            tally.cancelled += 1
            if !item.cancels { wrong("cancelled unexpectedly") }
          case .failure(let error):
            tally.failed += 1
            if item.fault?.kind != error.kind { wrong("\(error)") }
          }
          return tally.replied + tally.failed + tally.cancelled == count
        }
        if isLast { finished.signal() } else { next() }
      }
    }

    /// The decision whether and when to cancel a request.
    private struct Control: Sendable {
      let isCancelled: Bool

      init(_ isCancelled: Bool) { self.isCancelled = isCancelled }

      /// Cancels immediately or after up to 3 ms.
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

  extension TestServer.Fault {
    /// The expected kind of error of a request with this fault; `nil` if the response is "ok".
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
