import NetLayer
import Synchronization

/// A recorder of the last 100 calls, for a debug screen. Add it to the interceptors of the backend.
package final class CallLog: CallObserver {
  /// A call.
  package struct Row: Sendable {
    let call: Int
    let start: Duration
    let name: String
    var attempts = 0
    var pauses = Duration.zero
    var duration = Duration.zero
    var source = ""
    var end = "open"

    mutating func add(_ event: CallEvent) {
      duration = event.time - start
      switch event.kind {
      case .sent: attempts += 1
      case .pause: pauses += event.duration ?? .zero
      case .received: (source, end) = ("\(event.response?.source.kind ?? .network)", "\(event.response?.status ?? 0)")
      case .failed, .cancelled: end = "\(event.kind)"
      default: break
      }
    }
  }

  // Guards the rows, which all threads of all calls change.
  private let kept = Mutex([Row]())

  /// The rows, the oldest first.
  package var rows: [Row] { kept.withLock { $0 } }

  package func observe(_ event: CallEvent) {
    let name = "\(event.request.method) \(Redaction.standard.redacted(event.request.url))"
    kept.withLock { rows in
      if event.kind == .started { rows = rows.suffix(99) + [Row(call: event.call, start: event.time, name: name)] }
      if let place = rows.lastIndex(where: { $0.call == event.call }) { rows[place].add(event) }
    }
  }
}
