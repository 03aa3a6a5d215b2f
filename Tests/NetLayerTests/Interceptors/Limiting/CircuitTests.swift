import Races
import TestSupport
import XCTest

@testable import NetLayer

/// The pure state machine of a circuit, in seconds.
final class CircuitTests: XCTestCase {
  private static let rules = Circuit.Rules(ratio: 0.8, minimum: 5, window: 10, pause: 1, maxPause: 5, probes: 5)

  private var circuit = Circuit()

  override func setUp() { circuit = Circuit() }

  @discardableResult
  private func call(_ verdict: Circuit.Verdict, at now: Double, random: Double = 0.5) -> Bool {
    guard case .sent(let ticket) = circuit.admit(at: now, Self.rules) else { return false }
    circuit.end(ticket, verdict, at: now, Self.rules, random: random)
    return true
  }

  private func open(at now: Double = 0) {
    for index in 0..<7 { call(.failed(retryAfter: nil), at: now + Double(index) / 5) }
    XCTAssertEqual(circuit.state, .open)
  }

  func test_fiveFailuresThatSpanTheFirstPause_open() {
    for index in 0..<5 { XCTAssertTrue(call(.failed(retryAfter: nil), at: Double(index) / 5)) }
    XCTAssertEqual(circuit.state, .closed, "the first of them is 0.8 s old")
    call(.failed(retryAfter: nil), at: 1)
    XCTAssertEqual(circuit.state, .open)
  }

  func test_fourFailures_orOneAMinute_doNotOpen() {
    for time in [0.0, 0.5, 1, 1.5] { call(.failed(retryAfter: nil), at: time) }
    XCTAssertEqual(circuit.state, .closed)
    for minute in 1...600 { call(.failed(retryAfter: nil), at: 60 * Double(minute)) }
    XCTAssertEqual(circuit.state, .closed)
  }

  func test_oneFailureASecond_opens() {
    for second in 0..<10 { call(.failed(retryAfter: nil), at: Double(second)) }
    XCTAssertEqual(circuit.state, .open)
  }

  func test_threeOfFour_doNotOpen_fourOfFiveDo() {
    for index in 0..<400 { call(index % 4 == 0 ? .alive : .failed(retryAfter: nil), at: Double(index) / 10) }
    XCTAssertEqual(circuit.state, .closed)
    circuit = Circuit()
    for index in 0..<400 { call(index % 6 == 0 ? .alive : .failed(retryAfter: nil), at: Double(index) / 10) }
    XCTAssertNotEqual(circuit.state, .closed)
  }

  func test_cancelledCalls_showNothing() {
    for index in 0..<1000 { XCTAssertTrue(call(.none, at: Double(index) / 10)) }
    XCTAssertEqual(circuit.state, .closed)
  }

  func test_anOpenCircuit_rejects_thenSendsOneProbe() throws {
    open()
    guard case .rejected(let wait) = circuit.admit(at: 1.2, Self.rules) else { return XCTFail("sent") }
    XCTAssertEqual(wait, 1.0 - 0.2, accuracy: 1e-9)
    XCTAssertFalse(call(.alive, at: 1.99))
    guard case .sent(let probe) = circuit.admit(at: 2, Self.rules) else { return XCTFail("rejected") }
    XCTAssertEqual(circuit.state, .halfOpen)
    XCTAssertEqual(circuit.admit(at: 2.5, Self.rules), .rejected(retryAfter: 4.5))
    circuit.end(probe, .alive, at: 3, Self.rules, random: 0)
    // One has succeeded, so that two may run.
    guard case .sent(let second) = circuit.admit(at: 3, Self.rules), case .sent = circuit.admit(at: 3, Self.rules)
    else {
      return XCTFail("rejected")
    }
    XCTAssertEqual(circuit.admit(at: 3.5, Self.rules), .rejected(retryAfter: 4.5))
    circuit.end(second, .none, at: 4, Self.rules, random: 0)
    guard case .sent = circuit.admit(at: 4, Self.rules) else { return XCTFail("a cancelled probe frees its place") }
  }

  func test_aProbeThatNeverEnds_doesNotBlockTheOthers() {
    open()
    guard case .sent = circuit.admit(at: 2, Self.rules) else { return XCTFail("rejected") }
    XCTAssertFalse(call(.alive, at: 6.9))
    for index in 0..<5 { XCTAssertTrue(call(.alive, at: 7 + 5 * Double(index))) }
    XCTAssertEqual(circuit.state, .closed)
  }

  func test_fiveGoodProbes_close_andTheNextOpeningNeedsNewFailures() {
    open()
    for index in 0..<5 {
      XCTAssertEqual(circuit.state, index == 0 ? .open : .halfOpen)
      XCTAssertTrue(call(.alive, at: 2 + Double(index)))
    }
    XCTAssertEqual(circuit.state, .closed)
    for time in [8.0, 8.1, 8.2, 8.3] { call(.failed(retryAfter: nil), at: time) }
    XCTAssertEqual(circuit.state, .closed, "the former failures are forgotten")
  }

  func test_probesAreJudgedByTheSameRatio() {
    open()
    for time in [2.0, 3, 4] { call(.alive, at: time) }
    call(.failed(retryAfter: nil), at: 5)
    XCTAssertEqual(circuit.state, .halfOpen, "one of four")
    call(.alive, at: 6)
    call(.alive, at: 7)
    XCTAssertEqual(circuit.state, .closed)
  }

  func test_pausesGrowToTheirMaximum_andFallAfterGoodTimes() {
    open()
    var (time, pauses) = (2.0, [Double]())
    for _ in 0..<5 {
      call(.failed(retryAfter: nil), at: time)
      guard case .rejected(let wait) = circuit.admit(at: time, Self.rules) else { return XCTFail("sent") }
      pauses.append(wait)
      time += wait
    }
    XCTAssertEqual(pauses, [2, 4, 5, 5, 5])
    for index in 0..<15 { call(.alive, at: time + Double(index)) }
    time += 75
    open(at: time)
    guard case .rejected(let wait) = circuit.admit(at: time + 1, Self.rules) else { return XCTFail("sent") }
    XCTAssertLessThan(wait, 1.01)
  }

  func test_theServerMayAskForALongerPause_upToAMinute() {
    for (asked, random, wait) in [(30.0, 0.0, 30.0), (30, 1, 33), (1000, 1, 66), (-5, 0, 0.5), (.infinity, 0, 60)] {
      circuit = Circuit()
      for index in 0..<6 { call(.failed(retryAfter: asked), at: Double(index) / 5, random: random) }
      guard case .rejected(let rest) = circuit.admit(at: 1, Self.rules) else { return XCTFail("sent") }
      XCTAssertEqual(rest, wait, accuracy: 1e-9)
    }
  }

  func test_lateResults_changeNothing() {
    guard case .sent(let early) = circuit.admit(at: 0, Self.rules) else { return XCTFail("rejected") }
    open()
    circuit.end(early, .alive, at: 1.5, Self.rules, random: 0)
    XCTAssertEqual(circuit.state, .open)
    guard case .sent(let probe) = circuit.admit(at: 2, Self.rules) else { return XCTFail("rejected") }
    circuit.end(early, .failed(retryAfter: nil), at: 2, Self.rules, random: 0)
    XCTAssertEqual(circuit.state, .halfOpen)
    circuit.end(probe, .failed(retryAfter: nil), at: 2, Self.rules, random: 0)
    XCTAssertEqual(circuit.state, .open)
    circuit.end(probe, .alive, at: 2, Self.rules, random: 0)
    XCTAssertEqual(circuit.state, .open)
  }

  // MARK: Histories

  /// The numbers that an observer may count without knowing how the circuit works.
  private struct Observed {
    var running: Set<Int> = []
    var succeeded = 0
    /// Probes that a pause of `maxPause` admitted although too many ran.
    var late = 0
    var last = -Double.infinity

    mutating func sent(_ number: Int, at now: Double) {
      if running.count - late > succeeded { late += 1 }
      running.insert(number)
      last = now
    }
  }

  func test_randomHistories_keepTheRules() {
    var random = randomNumbers()
    for history in 0..<20_000 {
      if let problem = run(&random) { return XCTFail("history \(history): \(problem)") }
    }
  }

  private func run(_ random: inout SplitMix64) -> String? {
    var (circuit, now) = (Circuit(), 0.0)
    var tickets: [Int: Circuit.Ticket] = [:]
    var observed = Observed()
    for step in 0..<40 {
      now += [0, 0.01, 0.3, 1, 6][Int.random(in: 0..<5, using: &random)]
      let before = circuit.state
      if tickets.isEmpty || Int.random(in: 0..<2, using: &random) == 0 {
        switch circuit.admit(at: now, Self.rules) {
        case .rejected(let wait):
          if before == .closed { return "a closed circuit rejects" }
          if wait <= 0 || wait > 66.1 { return "the wait is \(wait)" }
          if before == .halfOpen, observed.running.isEmpty { return "no probe runs, and none is sent" }
          if before == .halfOpen, now - observed.last >= Self.rules.maxPause { return "no probe for 5 s" }
        case .sent(let ticket):
          tickets[step] = ticket
          if before == .open { observed = Observed() }
          if before != .closed {
            let isLate = observed.running.count > observed.succeeded
            if isLate, now - observed.last < Self.rules.maxPause { return "\(observed.running.count) probes run" }
            observed.sent(step, at: now)
          }
        }
      } else if let (number, ticket) = tickets.randomElement(using: &random) {
        tickets[number] = nil
        let verdict: Circuit.Verdict = [.alive, .failed(retryAfter: nil), .none, .failed(retryAfter: 90)][
          Int.random(in: 0..<4, using: &random)]
        circuit.end(ticket, verdict, at: now, Self.rules, random: 1)
        if verdict == .none, circuit.state != before { return "a cancelled call changes the state" }
        let isProbe = observed.running.remove(number) != nil
        if before != .closed, !isProbe, circuit.state != before { return "a late result changes the state" }
        if isProbe, verdict == .alive { observed.succeeded += 1 }
        if circuit.state == .open || circuit.state == .closed { observed = Observed() }
      }
    }
    now += 67
    for _ in 0..<5 where circuit.state != .closed {
      guard case .sent(let ticket) = circuit.admit(at: now, Self.rules) else { return "rejected after 67 s" }
      circuit.end(ticket, .alive, at: now, Self.rules, random: 1)
      now += 5
    }
    return circuit.state == .closed || circuit.state == .halfOpen ? nil : "not closed by good probes"
  }
}
