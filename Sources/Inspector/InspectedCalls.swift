import NetLayerRecording
import PortableFoundation

/// The calls that a page shows.
enum InspectedCalls: Sendable {
  case recorder(Recorder)
  case file(ArchivedCalls, name: String)

  subscript(number: Int) -> InspectedCall? {
    switch self {
    case .recorder(let recorder): recorder[number].map(InspectedCall.init)
    case .file(let calls, _): calls.indices.contains(number - 1) ? calls[number - 1] : nil
    }
  }

  /// Returns the numbers of the calls that contain a text.
  func numbers(containing text: String) -> [Int] {
    switch self {
    case .recorder(let recorder):
      recorder.changes(since: Recorder.Revision()).entries.map(InspectedCall.init).filter { $0.contains(text) }
        .map(\.number)
    case .file(let calls, _): calls.lazy.filter { $0.contains(text) }.map(\.number)
    }
  }

  func har() -> Data {
    switch self {
    case .recorder(let recorder): recorder.har()
    case .file(let calls, _): HARWriter.archive(calls.flatMap(\.entries))
    }
  }

  /// Removes the calls of a recorder that have ended.
  func clear() { if case .recorder(let recorder) = self { recorder.clear() } }
}

/// The event stream of one page: the calls, and then their changes.
///
/// - `hello {session, now, file}`: the start; the time in milliseconds since 1970.
/// - `calls [summary…]`: new and changed calls, at most 500 in an event, and of a file at most 2,000 at a time.
/// - `end`: the calls of a file are complete, and the stream ends.
/// - `drop {ids, total}`: calls that were removed, and the number of calls that the limits of the recorder have removed.
struct PageEvents {
  private let source: InspectedCalls
  private let session: String
  private var revision: Recorder.Revision?
  private var shown: Set<Int> = []
  /// The number of calls of the file that have been sent.
  private var position = 0

  private static let (batch, batches) = (500, 4)

  init(_ source: InspectedCalls, session: String) { (self.source, self.session) = (source, session) }

  /// Returns the next events; empty without a change, `nil` after those of a file.
  mutating func next() -> [UInt8]? {
    var events = ""
    switch source {
    case .file(let calls, let name):
      guard position < calls.count || revision == nil else { return nil }
      if revision == nil { events += hello(file: name) }
      revision = Recorder.Revision()
      for _ in 0..<Self.batches where position < calls.count {
        let next = min(position + Self.batch, calls.count)
        events += Self.event("calls", calls[position..<next].map(\.summary))
        position = next
      }
      if position == calls.count { events += "event: end\ndata: \n\n" }
    case .recorder(let recorder):
      if revision == nil { events += hello(file: nil) }
      let changes = recorder.changes(since: revision ?? Recorder.Revision())
      revision = changes.revision
      if let numbers = changes.numbers {
        let gone = shown.subtracting(numbers).sorted()
        if !gone.isEmpty || changes.dropped > 0 {
          events += Self.event("drop", Dropped(ids: gone, total: changes.dropped))
        }
        shown.formIntersection(numbers)
      }
      shown.formUnion(changes.entries.lazy.map(\.number))
      for start in stride(from: 0, to: changes.entries.count, by: Self.batch) {
        let batch = changes.entries[start..<min(start + Self.batch, changes.entries.count)]
        events += Self.event("calls", batch.map { InspectedCall($0).summary })
      }
    }
    return Array(events.utf8)
  }

  private func hello(file: String?) -> String {
    Self.event("hello", Hello(session: session, now: Date().timeIntervalSince1970 * 1_000, file: file))
  }

  private struct Hello: Encodable {
    var session: String
    var now: Double
    var file: String?
  }

  private struct Dropped: Encodable {
    var ids: [Int]
    var total: Int
  }

  /// Returns an event. Its data is one line, because JSON escapes control characters.
  private static func event(_ name: String, _ data: some Encodable) -> String {
    "event: \(name)\ndata: \(String(decoding: InspectorPages.json(data), as: UTF8.self))\n\n"
  }
}
