#if os(Linux)
  import Synchronization

  /// How often each of many requests has ended: once is right.
  final class Ledger: Sendable {
    private let ends: Mutex<[UInt8]>

    init(_ count: Int) { ends = Mutex([UInt8](repeating: 0, count: count)) }

    /// Notes an end of the request `id`.
    func note(_ id: Int) { ends.withLock { $0[id] &+= 1 } }

    /// What is wrong, for the first of them; `nil` where each has ended once. A second end may come late: ask last.
    var fault: String? {
      ends.withLock { ends in
        ends.firstIndex { $0 != 1 }.map {
          "request \($0) has ended \(ends[$0]) times, and \(ends.count { $0 != 1 }) wrongly"
        }
      }
    }
  }
#endif
