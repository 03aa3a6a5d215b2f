import Foundation
import NetLayer
import NetLayerTesting
import StreamsTesting
import Synchronization

/// Many instances of one service, each of which calls the server at regular times, different for each.
struct Fleet {
  struct Result {
    /// The most requests in a tenth of a second after the stop, relative to the usual number.
    var peak: Double
    /// The same after the restart.
    var peakAfterRestart: Double
    /// The requests from the stop on, relative to one for each call.
    var amplification: Double
    /// The calls from the stop on that failed, in percent.
    var failed: Double
    /// The calls from the stop on that were rejected in their process, in percent.
    var rejected: Double
    /// The seconds after the restart until at least 99 % of the calls of each further second succeed; `nil` if that does
    /// not happen before the end.
    var recovery: Double?
  }

  var instances: Int
  /// The calls of an instance in a second.
  var rate: Int
  var seconds: Int
  var model: Server.Model
  /// Makes the interceptors of an instance.
  var interceptors: @Sendable () -> [any Interceptor]

  /// A scheduler that runs work inline.
  private struct Inline: ImmediateSchedulerType {
    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      action()
      return Disposables.create()
    }
  }

  func run() -> Result {
    let clock = TestScheduler(resolution: .milliseconds(1))
    let server = Server(model)
    let calls = Calls()
    // The same times for all settings.
    var random = Generator()
    for _ in 0..<instances {
      let network = Network(
        Backend(
          baseURL: URL(string: "http://backend"), transport: Wire(server: server, clock: clock), clock: clock,
          mapping: Inline(), interceptors: interceptors()))
      let phase = Double.random(in: 0..<1, using: &random)
      for number in 0..<rate { call(0, (phase + Double(number)) / Double(rate), network, clock, calls) }
    }
    clock.start()
    return result(server.arrivals, calls.counts.withLock { $0 })
  }

  /// Schedules the call of one second, which schedules the next one.
  private func call(_ second: Int, _ phase: Double, _ network: Network, _ clock: TestScheduler, _ calls: Calls) {
    guard second < seconds else { return }
    clock.scheduleAt(Int((Double(second) + phase) * 1_000)) {
      _ = network.responses(.get, "/feed").subscribe(
        onNext: { calls.end(second, isFailed: $0.status != 200) },
        onError: { error in
          calls.end(second, isFailed: true, isRejected: (error as? NetworkError)?.kind == .unavailable)
        })
      call(second + 1, phase, network, clock, calls)
    }
  }

  private func result(_ arrivals: [Int: Int], _ calls: [Int: Calls.Count]) -> Result {
    let (stop, restart) = (Int(model.stop), Int(model.restart))
    let usual = Double(instances * rate) / 10
    let late = arrivals.filter { $0.key >= stop * 10 }
    let made = calls.filter { $0.key >= stop }
    let isGood: (Int) -> Bool = { second in
      calls[second].map { Double($0.failed) <= 0.01 * Double($0.all) } ?? false
    }
    let firstGood = (restart..<seconds).first { start in (start..<seconds).allSatisfy(isGood) }
    func percent(_ count: (Calls.Count) -> Int) -> Double {
      100 * Double(made.values.reduce(0) { $0 + count($1) }) / Double(made.values.reduce(0) { $0 + $1.all })
    }
    return Result(
      peak: Double(late.values.max() ?? 0) / usual,
      peakAfterRestart: Double(late.filter { $0.key >= restart * 10 }.values.max() ?? 0) / usual,
      amplification: Double(late.values.reduce(0, +)) / Double(made.values.reduce(0) { $0 + $1.all }),
      failed: percent(\.failed), rejected: percent(\.rejected),
      recovery: firstGood.map { Double($0 - restart) })
  }
}

/// The number of calls in each second, and of those that failed.
final class Calls: Sendable {
  struct Count { var (all, failed, rejected) = (0, 0, 0) }
  let counts = Mutex([Int: Count]())

  func end(_ second: Int, isFailed: Bool, isRejected: Bool = false) {
    counts.withLock { counts in
      var count = counts[second] ?? Count()
      count.all += 1
      if isFailed { count.failed += 1 }
      if isRejected { count.rejected += 1 }
      counts[second] = count
    }
  }
}

/// A generator with a fixed sequence (SplitMix64).
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64 = 1) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
