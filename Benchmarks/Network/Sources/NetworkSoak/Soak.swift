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
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 64, maxConnections: 64))
      // Until the allocator has seen the worst that comes at once, 80,000 or so; then it stays where it is.
      let warmUp = count
      var isGood = try Round(transport, server).run(warmUp)
      let (bytes, descriptors) = (Limits.residentBytes, Limits.openDescriptors)
      let start = ContinuousClock.now
      isGood = try Round(transport, server).run(count) && isGood
      let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
      let growth = Limits.residentBytes / bytes - 1
      say(
        String(
          format: "soak: %d requests in %.1f s; memory %.1f MB after %d, %+.1f %% after all; descriptors %d, then %d",
          count,
          seconds, bytes / 1e6, warmUp, growth * 100, descriptors, Limits.openDescriptors))
      transport.shutdown()
      if growth > 0.05 { say("FAILED: memory grew by more than 5 %") }
      // Kept connections may be more or fewer, by as many as there may be.
      if Limits.openDescriptors > descriptors + 64 { say("FAILED: descriptors were lost") }
      return isGood && growth <= 0.05 && Limits.openDescriptors <= descriptors + 64
    }

    /// One series of requests.
    private final class Round: Sendable {
      private struct Tally {
        var started = 0
        var answered = 0
        var failed = 0
        var cancelled = 0
        var wrong: [String] = []
        var random = SystemRandomNumberGenerator()
      }

      private let transport: CurlTransport
      private let server: URL
      private let tally = Mutex(Tally())
      private let finished = DispatchSemaphore(value: 0)
      private static let faults = LoopbackServer.Fault.allCases

      init(_ transport: CurlTransport, _ server: URL) throws {
        self.transport = transport
        self.server = server
      }

      func run(_ count: Int) throws -> Bool {
        for _ in 0..<64 { next(count) }
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

      private func next(_ count: Int) {
        let (isMore, fault, cancels) = tally.withLock { tally -> (Bool, LoopbackServer.Fault?, Bool) in
          guard tally.started < count else { return (false, nil, false) }
          tally.started += 1
          let isFault = Int.random(in: 0..<100, using: &tally.random) < 5
          let cancels = Int.random(in: 0..<100, using: &tally.random) < 10
          return (true, isFault ? Self.faults.randomElement(using: &tally.random) : nil, cancels)
        }
        guard isMore else { return }
        var request = Request(url: server.appending(path: fault.map { "fault/\($0.rawValue)" } ?? "ok"))
        request.options.maxBodySize = 1 << 20
        // Only a fault may run into a limit.
        if fault != nil { request.timeouts = .init(connect: 5, idle: 0.2, total: 0.5) }
        let control = Control(cancels)
        let flight = transport.send(request) { [self] result in end(result, fault, control.isCancelled, count) }
        control.cancel(flight)
      }

      private func end(
        _ result: Result<Response, NetworkError>, _ fault: LoopbackServer.Fault?, _ isCancelled: Bool, _ count: Int
      ) {
        let isLast = tally.withLock { tally in
          switch result {
          case .success(let response):
            tally.answered += 1
            if fault == nil, response.body.count != 1000 { tally.wrong.append("\(response.body.count) bytes") }
          case .failure(let error) where error.kind == .cancelled:
            tally.cancelled += 1
            if !isCancelled { tally.wrong.append("cancelled by nobody") }
          case .failure(let error):
            tally.failed += 1
            if fault == nil { tally.wrong.append("without a fault: \(error)") }
          }
          return tally.answered + tally.failed + tally.cancelled == count
        }
        if isLast { finished.signal() } else { next(count) }
      }
    }

    /// Whether a request is to be cancelled.
    private struct Control: Sendable {
      let isCancelled: Bool

      init(_ isCancelled: Bool) { self.isCancelled = isCancelled }

      /// At once, or when it has got some way.
      func cancel(_ flight: any Disposable) {
        guard isCancelled else { return }
        let delay = Double.random(in: 0..<0.003)
        if delay < 0.001 {
          flight.dispose()
        } else {
          DispatchQueue.global().asyncAfter(deadline: .now() + delay) { flight.dispose() }
        }
      }
    }
  }
#endif
