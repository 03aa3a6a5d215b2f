#if os(Linux)
  import Foundation
  import NetLayer
  import Streams
  import Synchronization

  /// A test with very many concurrent requests to an endpoint that does not respond, each over a separate connection.
  /// Cancelling all of them must take less than a second.
  struct Crowd {
    let server: URL

    func run(_ count: Int) throws -> Bool {
      guard Limits.allowDescriptors(count + 200) else {
        say("crowd: skipped, the limit of descriptors (ulimit -Hn) is too low for \(count) connections")
        return true
      }
      let observer = try CurlTransport()
      // Opens the observer's own connection.
      _ = Self.open(observer, server)
      let start = Limits.held
      let transport = try CurlTransport(.init(maxConnectionsPerHost: count, maxConnections: count))
      let ledger = Ledger(count)
      let ended = Atomic<Int>(0)
      let wrong = Atomic<Int>(0)
      let finished = DispatchSemaphore(value: 0)
      let begin = ContinuousClock.now
      var pendingCalls: [any Disposable] = []
      let limits = Request.Timeouts(connect: .seconds(60), idle: .seconds(600), attempt: .seconds(600))
      for id in 0..<count {
        let request = Request(url: server.appending(path: "slow"), timeouts: limits)
        pendingCalls.append(
          transport.send(request) { result in
            if case .failure(let error) = result, error.kind == .cancelled {} else { wrong.add(1, ordering: .relaxed) }
            ledger.note(id)
            if ended.add(1, ordering: .relaxed).newValue == count { finished.signal() }
          })
      }
      while Self.open(observer, server) <= count {
        guard ContinuousClock.now - begin < .seconds(120), ended.load(ordering: .relaxed) == 0 else {
          say("FAILED: only \(Self.open(observer, server)) of \(count) connections are open")
          return false
        }
        Thread.sleep(forTimeInterval: 0.1)
      }
      let connected = (ContinuousClock.now - begin) / Duration.seconds(1)
      let cancel = ContinuousClock.now
      for pending in pendingCalls { pending.dispose() }
      let isOver = finished.wait(timeout: .now() + 60) == .success
      let seconds = (ContinuousClock.now - cancel) / Duration.seconds(1)
      transport.shutdown()
      let left = Limits.wait(until: start)
      say(
        String(
          format:
            "crowd: %d in flight after %.1f s, all cancelled in %.2f s; descriptors and threads \(start), then \(left)",
          count, connected, seconds))
      if let fault = ledger.fault { say("FAILED: \(fault)") }
      let isGood =
        isOver && wrong.load(ordering: .relaxed) == 0 && seconds < 1 && left == start && ledger.fault == nil
      if !isGood { say("FAILED: all requests must be cancelled within 1 s and release their resources") }
      return isGood
    }

    /// Returns the number of connections that the server has open.
    private static func open(_ transport: CurlTransport, _ server: URL) -> Int {
      let reply = Mutex(0)
      let done = DispatchSemaphore(value: 0)
      _ = transport.send(Request(url: server.appending(path: "open"))) { result in
        if let body = try? result.get().body {
          reply.withLock { $0 = Int(String(decoding: body, as: UTF8.self)) ?? 0 }
        }
        done.signal()
      }
      done.wait()
      return reply.withLock { $0 }
    }
  }
#endif
