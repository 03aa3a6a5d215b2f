import PortableFoundation

/// The state of a circuit: whether requests to a server are sent, by the results of the last ones.
///
/// | state | event | next state |
/// |---|---|---|
/// | closed | failure | open, if at least `minimum` weigh in, `ratio` of all results, and the first of them is `pause` old |
/// | open | request at its end or later | half-open, sent as the first probe |
/// | half-open | request | sent as a probe, if no more run than have succeeded, or none was sent for `maxPause` |
/// | half-open | good probe | closed after `probes` of them |
/// | half-open | failed probe | open, if `ratio` of the ended probes have failed |
///
/// The results of requests of an earlier state change nothing. Results fade: after `window`, one weighs 1/e.
struct Circuit {
  struct Rules: Sendable {
    var ratio: Double
    var minimum: Double
    var window: Double
    var pause: Double
    var maxPause: Double
    var probes: Int
  }

  /// The meaning of a result for the server.
  enum Verdict: Equatable { case alive, failed(retryAfter: Double?), none }

  /// The permission to send a request, with the number of the state in which it was given.
  struct Ticket: Equatable { let phase: Int }

  enum Admission: Equatable { case sent(Ticket), rejected(retryAfter: Double) }

  private enum Phase {
    case closed
    case open(until: Double)
    case halfOpen(running: Int, succeeded: Int, failed: Int, last: Double)
  }

  /// The maximum delay that a server may request, in seconds.
  static let maxRetryAfter = 60.0

  private var phase = Phase.closed
  private var number = 0
  /// The openings since the server was last well.
  private var openings = 0
  /// The weights of the results until `counted`.
  private var (all, failures, counted) = (0.0, 0.0, 0.0)
  private var firstFailure: Double?

  var state: CircuitBreakerInterceptor.State {
    switch phase {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .halfOpen
    }
  }

  /// Decides about a request at `now`, in seconds.
  mutating func admit(at now: Double, _ rules: Rules) -> Admission {
    switch phase {
    case .closed: break
    case .open(let until):
      if now < until { return .rejected(retryAfter: until - now) }
      become(.halfOpen(running: 1, succeeded: 0, failed: 0, last: now))
    case .halfOpen(let running, let succeeded, let failed, let last):
      let rest = last + rules.maxPause - now
      guard running <= succeeded || rest <= 0 else { return .rejected(retryAfter: rest) }
      phase = .halfOpen(running: running + 1, succeeded: succeeded, failed: failed, last: now)
    }
    return .sent(Ticket(phase: number))
  }

  /// Notes the result of a request; `random` is in 0...1.
  mutating func end(_ ticket: Ticket, _ verdict: Verdict, at now: Double, _ rules: Rules, random: Double) {
    guard ticket.phase == number else { return }
    switch phase {
    case .open: break
    case .closed:
      if case .none = verdict { break }
      count(verdict, at: now, rules)
      guard case .failed(let asked) = verdict else {
        if all >= rules.minimum, failures < 1 { openings = 0 }
        break
      }
      let isOld = firstFailure.map { now - $0 >= rules.pause } ?? false
      if failures >= rules.minimum, failures >= rules.ratio * all, isOld { open(asked, at: now, rules, random) }
    case .halfOpen(let running, var succeeded, var failed, let last):
      switch verdict {
      case .none: break
      case .alive: succeeded += 1
      case .failed: failed += 1
      }
      if succeeded >= rules.probes { return close() }
      phase = .halfOpen(running: running - 1, succeeded: succeeded, failed: failed, last: last)
      if case .failed(let asked) = verdict, Double(failed) >= rules.ratio * Double(succeeded + failed) {
        open(asked, at: now, rules, random)
      }
    }
  }

  private mutating func become(_ phase: Phase) {
    number += 1
    self.phase = phase
  }

  private mutating func close() {
    (all, failures, firstFailure) = (0, 0, nil)
    become(.closed)
  }

  private mutating func open(_ asked: Double?, at now: Double, _ rules: Rules, _ random: Double) {
    let grown = min(rules.maxPause, rules.pause * exp2(Double(min(openings, 30))))
    let requested = min(asked ?? 0, Self.maxRetryAfter)
    openings += 1
    // The random parts spread the probes of many processes.
    become(.open(until: now + max(grown * (0.5 + random), requested * (1 + random / 10))))
  }

  private mutating func count(_ verdict: Verdict, at now: Double, _ rules: Rules) {
    let faded = exp(-max(0, now - counted) / rules.window)
    (all, failures, counted) = (all * faded + 1, failures * faded, max(now, counted))
    if failures < 0.5 { firstFailure = nil }
    guard case .failed = verdict else { return }
    failures += 1
    firstFailure = firstFailure ?? now
  }
}
