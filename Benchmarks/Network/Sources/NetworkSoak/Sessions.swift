#if os(Linux)
  import Foundation
  import NetLayer
  import Synchronization

  /// A test with many WebSocket sessions, each of which sends a message a second. The server ends one connection in 200 messages.
  /// Each session must reconnect, and receive its own messages only, each at most once, in their order.
  struct Sessions: Sendable {
    private struct Tally {
      var (sent, echoes, lost) = (0, 0, 0)
      var wrong: [String] = []
    }

    private let network: Network
    private let transport: CurlTransport
    private let count: Int
    private let tally = Shared(Tally())

    init(server: URL, count: Int) throws {
      Limits.allowDescriptors(2 * count + 200)
      transport = try CurlTransport(.init(maxConnectionsPerHost: count, maxConnections: count))
      network = Network(Backend(baseURL: server, transport: transport))
      self.count = count
    }

    func run(seconds: Int) async -> Bool {
      let end = ContinuousClock.now + .seconds(seconds)
      await withTaskGroup(of: Void.self) { group in
        for id in 0..<count { group.addTask { await use(id, until: end) } }
      }
      transport.shutdown()
      let result = tally.value
      say(
        "sessions: \(count), \(result.sent) messages sent, \(result.echoes) received, \(result.lost) failed with their connection"
      )
      for line in result.wrong.prefix(10) { say("FAILED: \(line)") }
      // A message that the server has read is lost when it ends the connection, besides those that fail.
      let isComplete = result.sent > 0 && Double(result.sent - result.echoes) <= 0.02 * Double(result.sent)
      if !isComplete { say("FAILED: more than 2 % of the messages have no echo") }
      return isComplete && result.wrong.isEmpty
    }

    private func use(_ id: Int, until end: ContinuousClock.Instant) async {
      let session = network.webSocket(
        .get("/echo"), reconnect: RetryPolicy(attempts: 1000, initialDelay: .milliseconds(50), maxDelay: .seconds(1)))
      let last = Shared((number: 0, at: ContinuousClock.now))
      let reading = Task {
        do {
          for try await message in session.messages.values { receive(message, id, last) }
          if !Task.isCancelled { fail("session \(id) completed") }
        } catch {
          if !Task.isCancelled { fail("session \(id) ended: \(error)") }
        }
      }
      var number = 0
      repeat {
        try? await Task.sleep(for: .seconds(number == 0 ? Double.random(in: 1..<2) : 1))
        number += 1
        do {
          try await session.send("\(id) \(number)")
          tally.change { $0.sent += 1 }
        } catch {
          tally.change { $0.lost += 1 }
          if error.kind != .connection { fail("session \(id): \(error)") }
        }
      } while ContinuousClock.now < end
      // The last echo.
      try? await Task.sleep(for: .seconds(2))
      if ContinuousClock.now - last.value.at > .seconds(15) {
        fail("session \(id) received nothing for \(ContinuousClock.now - last.value.at)")
      }
      reading.cancel()
      await reading.value
    }

    private func receive(
      _ message: WebSocketMessage, _ id: Int, _ last: Shared<(number: Int, at: ContinuousClock.Instant)>
    ) {
      let parts = message.text?.split(separator: " ").compactMap { Int($0) } ?? []
      guard parts.count == 2, parts[0] == id, parts[1] > last.value.number else {
        return fail("session \(id) received \(message) after message \(last.value.number)")
      }
      last.change { $0 = (parts[1], .now) }
      tally.change { $0.echoes += 1 }
    }

    private func fail(_ what: String) { tally.change { $0.wrong.append(what) } }
  }

  /// A value behind a lock.
  final class Shared<Value: Sendable>: Sendable {
    private let kept: Mutex<Value>
    init(_ value: Value) { kept = Mutex(value) }
    var value: Value { kept.withLock { $0 } }
    func change<R: Sendable>(_ body: (inout Value) -> R) -> R { kept.withLock { value in body(&value) } }
  }
#endif
