import PortableFoundation
import Streams

/// An interceptor that sends nothing to a server of which almost every recent request has failed, until probes succeed.
///
/// A rejected call fails immediately with kind `unavailable`, whose `retryAfter` is the time until the next probe. Callers receive
/// an error immediately, a cache responds instead, and the server is not asked while it recovers. It opens when at least `minimum`
/// failures that span `pause`, and `ratio` of all recent results, have failed: errors of kind `connection`, `unknownHost` and
/// `timeout`, also at the end of the call's limit, and the statuses of `isFailure`. All other responses show that the server works.
/// A cancelled call shows nothing.
///
/// Each origin (scheme, host and port) has a circuit. Behind a `CacheInterceptor` that responds to most calls of the good routes, one
/// route that always fails opens the circuit of all: of ten routes, 24 % of the calls failed instead of 10 %. With
/// `group: { $0.url.path }`, each path has its own circuit, and 10 % failed.
///
/// Place it after the ``RetryInterceptor``, so that it counts every attempt, and before an ``AuthenticationInterceptor``. There is
/// one circuit for each interceptor: share it among networks to share what they know. It needs no timer.
public final class CircuitBreakerInterceptor: SendingInterceptor {
  /// The state of a circuit. A struct, so that a new state does not break the `switch` statements of users.
  public struct State: Sendable, Hashable, CustomStringConvertible {
    /// The name of the state.
    public let description: String

    /// Requests are sent.
    public static let closed = State(description: "closed")
    /// Requests are rejected.
    public static let open = State(description: "open")
    /// Probes are sent, and all other requests rejected.
    public static let halfOpen = State(description: "half-open")
  }

  private struct Key: Hashable {
    let origin: Origin
    let group: String
    var text: String { group.isEmpty ? origin.text : "\(origin.text) \(group)" }
  }

  private let rules: Circuit.Rules
  private let group: @Sendable (Request) -> String
  private let isFailure: @Sendable (Response) -> Bool
  private let onChange: (@Sendable (_ circuit: String, State) -> Void)?
  /// Guards the circuits, and the changes to report. Requests are sent, and changes reported, outside the lock.
  private let state = Locked<(circuits: [Key: Circuit], changes: [(String, State)])>(([:], []))
  /// Reports the changes one by one, in their order.
  private let reports = Drain()

  /// Creates an interceptor whose circuits are closed.
  ///
  /// - Parameters:
  ///   - ratio: The part of the recent results that must have failed, 80 % by default. At 50 %, a server that rejects 60 % of the
  ///     requests would receive little more than probes.
  ///   - minimum: The number of failures that a circuit needs to open, at least one.
  ///   - window: The time in which results fade.
  ///   - pause: The minimum age of the first failure, and the first pause.
  ///   - maxPause: The maximum pause, up to which each opening doubles it, and after which a probe is sent even if another one still
  ///     runs. A server may request up to a minute with `Retry-After`.
  ///   - probes: The number of successful probes that close a circuit.
  ///   - group: A closure that divides the requests to an origin into several circuits by a name, such as a route.
  ///   - isFailure: A closure that returns whether a response shows that the server is unavailable.
  ///   - onChange: A closure that receives the name of a circuit and its new state, one change at a time, on the thread of a call.
  public init(
    ratio: Double = 0.8, minimum: Int = 5, window: Duration = .seconds(10), pause: Duration = .seconds(1),
    maxPause: Duration = .seconds(5), probes: Int = 5, group: @escaping @Sendable (Request) -> String = { _ in "" },
    isFailure: @escaping @Sendable (Response) -> Bool = { [502, 503, 504].contains($0.status) },
    onChange: (@Sendable (_ circuit: String, State) -> Void)? = nil
  ) {
    let first = max(0, pause / .seconds(1))
    rules = Circuit.Rules(
      ratio: min(1, max(0, ratio)), minimum: Double(max(1, minimum)), window: max(1e-3, window / .seconds(1)),
      pause: first, maxPause: max(first, maxPause / .seconds(1)), probes: max(1, probes))
    (self.group, self.isFailure, self.onChange) = (group, isFailure, onChange)
  }

  /// Sends `request`, or fails with kind `unavailable`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    Observable.deferred { [self] in
      let key = Key(origin: Origin(request.url), group: group(request))
      switch update(key, { $0.admit(at: next.clock.uptime / .seconds(1), rules) }) {
      case .rejected(let seconds): throw rejection(of: request, key, .seconds(seconds))
      case .sent(let ticket):
        let outcome = Outcome { [self] verdict in
          update(key) { circuit in
            let random = Double.random(in: 0...1)
            circuit.end(ticket, verdict, at: next.clock.uptime / .seconds(1), rules, random: random)
          }
        }
        return next(request).do(
          onNext: { [self] in outcome.end(verdict(on: $0)) }, onError: { [self] in outcome.end(verdict(on: $0)) },
          onDispose: { outcome.end(.none) })
      }
    }
  }

  private func rejection(of request: Request, _ key: Key, _ wait: Duration) -> NetworkError {
    var error = NetworkError(
      kind: .unavailable,
      reason: "not sent: almost every recent request to \(key.text) has failed; the next probe is in \(wait.text)",
      request: request)
    error.retryAfter = wait
    return error
  }

  private func verdict(on response: Response) -> Circuit.Verdict {
    isFailure(response) ? .failed(retryAfter: response.retryAfter.map { $0 / .seconds(1) }) : .alive
  }

  private func verdict(on error: any Error) -> Circuit.Verdict {
    let known = NetworkError.wrapping(error)
    // Another server, or a limit of this process, has failed.
    if known.isOfUnfinishedRefresh { return .none }
    switch known.kind {
    case .connection, .unknownHost, .timeout: return .failed(retryAfter: nil)
    case .parse, .tooLarge: return .alive
    default: return .none
    }
  }

  private func update<Result>(_ key: Key, _ change: (inout Circuit) -> Result) -> Result {
    let (result, isChanged) = state.withLock { state in
      // The table must not grow without limit for a client of very many origins.
      if state.circuits.count >= 4096, state.circuits[key] == nil { state.circuits = [:] }
      var circuit = state.circuits[key] ?? Circuit()
      let before = circuit.state
      let result = change(&circuit)
      state.circuits[key] = circuit
      let isChanged = circuit.state != before && onChange != nil
      if isChanged { state.changes.append((key.text, circuit.state)) }
      return (result, isChanged)
    }
    if isChanged { reports.run { [self] in report() } }
    return result
  }

  private func report() {
    for (circuit, state) in state.withLock({ exchange(&$0.changes, with: []) }) { onChange?(circuit, state) }
  }

  /// Passes on the first verdict on a request.
  private final class Outcome: Sendable {
    /// Guards the closure, which is called once, outside the lock.
    private let note: Locked<(@Sendable (Circuit.Verdict) -> Void)?>

    init(_ note: @escaping @Sendable (Circuit.Verdict) -> Void) { self.note = Locked(note) }

    func end(_ verdict: Circuit.Verdict) { note.withLock { $0.take() }?(verdict) }
  }
}
