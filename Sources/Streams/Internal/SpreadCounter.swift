import Synchronization

// Updated by the `init` and `deinit` of every subscription.
let liveSubscriptions = SpreadCounter()

/// A counter that many threads change, as the sum of eight counters.
///
/// Every change of a single counter would move it to the cache of another core. The address of the stack selects one
/// of the eight, so a thread uses the same one most of the time. They are stored properties because an array would be
/// created at first use, and each use would check that.
struct SpreadCounter: ~Copyable, Sendable {
  /// A counter with a cache line of its own.
  private struct Line: ~Copyable, Sendable {
    // Changed and read by any thread.
    let count = Atomic<Int>(0)
    private let padding = SIMD16<Int>.zero
  }

  private let a = Line()
  private let b = Line()
  private let c = Line()
  private let d = Line()
  private let e = Line()
  private let f = Line()
  private let g = Line()
  private let h = Line()

  func add(_ amount: Int) {
    var local: UInt8 = 0
    let stack = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) }
    // Stacks are at least 512 KB apart; the multiplication spreads regular distances.
    switch ((stack >> 16) &* 0x9E37_79B9_7F4A_7C15) >> 61 {
    case 0: a.count.wrappingAdd(amount, ordering: .relaxed)
    case 1: b.count.wrappingAdd(amount, ordering: .relaxed)
    case 2: c.count.wrappingAdd(amount, ordering: .relaxed)
    case 3: d.count.wrappingAdd(amount, ordering: .relaxed)
    case 4: e.count.wrappingAdd(amount, ordering: .relaxed)
    case 5: f.count.wrappingAdd(amount, ordering: .relaxed)
    case 6: g.count.wrappingAdd(amount, ordering: .relaxed)
    default: h.count.wrappingAdd(amount, ordering: .relaxed)
    }
  }

  /// The sum. It is exact when no thread changes a counter.
  var sum: Int {
    let first = a.count.load(ordering: .relaxed) + b.count.load(ordering: .relaxed) + c.count.load(ordering: .relaxed)
    let second = d.count.load(ordering: .relaxed) + e.count.load(ordering: .relaxed) + f.count.load(ordering: .relaxed)
    return first + second + g.count.load(ordering: .relaxed) + h.count.load(ordering: .relaxed)
  }
}
