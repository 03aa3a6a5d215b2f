import NetLayerRecording

/// The calls of an archive, without secrets. Entries with the same number of a call are its attempts and redirects.
///
/// A call is made when it is read, because an archive may have 100,000 entries, and each call takes more memory than its
/// entry.
struct ArchivedCalls: RandomAccessCollection, Sendable {
  private let entries: [HAREntry]
  /// The first entry of each call.
  private var firsts: [Int] = []
  /// The other entries of a call, by its first one.
  private var others: [Int: [Int]] = [:]

  /// Creates the calls of entries without secrets.
  init(_ entries: [HAREntry]) {
    self.entries = entries
    var places: [Int: Int] = [:]
    for (index, entry) in entries.enumerated() {
      let call = entry.facts.call
      if let first = call.flatMap({ places[$0] }) {
        others[first, default: []].append(index)
      } else {
        if let call { places[call] = index }
        firsts.append(index)
      }
    }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { firsts.count }

  subscript(position: Int) -> InspectedCall {
    InspectedCall([firsts[position]] + (others[firsts[position]] ?? []), of: entries, number: position + 1)
  }
}

/// The JSON text of the calls of an archive, in parts that take little memory: `{"calls":[…],"details":[…]}`, which are the
/// summaries and the details.
struct ImportedText {
  private let calls: ArchivedCalls
  private var position = 0
  private var isOfDetails = false
  private var hasEnded = false

  private static let batch = 500

  init(_ calls: ArchivedCalls) { self.calls = calls }

  /// Returns the next part; `nil` after the last one.
  mutating func next() -> [UInt8]? {
    guard !hasEnded else { return nil }
    var text: [UInt8] = []
    if position == 0 { text += (isOfDetails ? #"],"details":["# : #"{"calls":["#).utf8 }
    for call in calls[position..<min(position + Self.batch, calls.count)] {
      if position > 0 { text.append(UInt8(ascii: ",")) }
      text += isOfDetails ? InspectorPages.json(call.detail) : InspectorPages.json(call.summary)
      position += 1
    }
    guard position == calls.count else { return text }
    if isOfDetails { text += "]}".utf8 }
    (position, isOfDetails, hasEnded) = (0, true, isOfDetails)
    return text
  }
}
