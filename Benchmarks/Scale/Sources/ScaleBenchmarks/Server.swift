import Foundation
import NetLayer
import Synchronization

/// A backend in virtual time: a queue in front of a fixed number of requests per second. It is down for a while, and slower
/// for a while after its restart, because its caches are cold.
final class Server: Sendable {
  struct Model: Sendable {
    /// Requests per second.
    var capacity: Double
    /// The times in seconds at which it stops and restarts, and at which it is warm again.
    var stop = 20.0
    var restart = 30.0
    var warm = 40.0
    /// The part of the capacity until it is warm.
    var cold = 0.5
    /// The wait in seconds from which it responds with status 503; `nil` for a server that queues everything.
    var sheds: Double? = 0.5
    /// The requests in seconds of its capacity that it works on concurrently, each the slower the more there are. It responds with
    /// status 503 to any other. `nil` for a server that works on one after the other.
    var shared: Double?
    /// The `Retry-After` of a 503 in seconds, for the request with this number; `nil` for none.
    var retryAfter: (@Sendable (Int) -> Int)?
    /// The time limit of a client in seconds. The server completes a request even after it.
    var patience = 2.0
  }

  enum Outcome: Sendable { case refused, shed(Int?), late, response(after: Double) }

  private struct State {
    var busyUntil = 0.0
    var count = 0
    /// The requests in each tenth of a second.
    var arrivals: [Int: Int] = [:]
    /// The requests in work until `until`, and those that end in each later millisecond.
    var (inWork, until, ends) = (0, 0, [Int: Int]())

    mutating func advance(to time: Int) {
      while until < time {
        until += 1
        inWork -= ends.removeValue(forKey: until) ?? 0
      }
    }
  }

  let model: Model
  private let state = Mutex(State())

  init(_ model: Model) { self.model = model }

  /// The requests in each tenth of a second.
  var arrivals: [Int: Int] { state.withLock { $0.arrivals } }

  func receive(at now: Double) -> Outcome {
    state.withLock { state in
      state.count += 1
      state.arrivals[Int(now * 10), default: 0] += 1
      guard now < model.stop || now >= model.restart else {
        state.busyUntil = model.restart
        return .refused
      }
      let start = max(now, state.busyUntil)
      let capacity = now >= model.restart && now < model.warm ? model.capacity * model.cold : model.capacity
      if let shared = model.shared {
        state.advance(to: Int(now * 1_000))
        if Double(state.inWork) >= shared * model.capacity { return .shed(model.retryAfter?(state.count)) }
        let wait = 0.02 + Double(state.inWork) / capacity
        state.inWork += 1
        state.ends[Int((now + wait) * 1_000) + 1, default: 0] += 1
        return wait > model.patience ? .late : .response(after: wait)
      }
      if let limit = model.sheds, start - now > limit {
        // A rejection costs a twentieth of a response.
        state.busyUntil = start + 0.05 / capacity
        return .shed(model.retryAfter?(state.count))
      }
      state.busyUntil = start + 1 / capacity
      let wait = state.busyUntil - now
      return wait > model.patience ? .late : .response(after: wait)
    }
  }
}

/// The transport of an instance to the server.
struct Wire: Transport {
  let server: Server
  let clock: any SchedulerType

  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    func after(_ seconds: Double, _ result: Result<Response, NetworkError>) -> any Disposable {
      clock.scheduleRelative(.microseconds(Int(seconds * 1e6))) { completion(result) }
    }
    switch server.receive(at: clock.uptime / .seconds(1)) {
    case .refused: return after(0.001, .failure(NetworkError(kind: .connection, reason: "refused", request: request)))
    case .late:
      return after(
        server.model.patience, .failure(NetworkError(kind: .timeout, reason: "no response", request: request)))
    case .shed(let seconds):
      let headers: HTTPHeaders = seconds.map { ["Retry-After": "\($0)"] } ?? [:]
      return after(0.001, .success(Response(request: request, status: 503, headers: headers)))
    case .response(let wait): return after(wait, .success(Response(request: request, status: 200)))
    }
  }
}
