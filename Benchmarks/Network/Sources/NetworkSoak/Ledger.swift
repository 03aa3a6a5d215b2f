#if os(Linux)
  import Synchronization

  /// A count of the completions of many requests: each must complete once.
  final class Ledger: Sendable {
    private let ends: Mutex<[UInt8]>

    init(_ count: Int) { ends = Mutex([UInt8](repeating: 0, count: count)) }

    /// Records a completion of the request `id`.
    func note(_ id: Int) { ends.withLock { $0[id] &+= 1 } }

    /// A description of the first error, or `nil` if each request has completed once. Read it last, because a second
    /// completion may arrive late.
    var fault: String? {
      ends.withLock { ends in
        ends.firstIndex { $0 != 1 }.map {
          "request \($0) has ended \(ends[$0]) times; \(ends.count { $0 != 1 }) requests have not ended exactly once"
        }
      }
    }
  }
#endif
