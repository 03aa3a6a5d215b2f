import Foundation

@testable import HTTPTransport
@testable import NetLayer

/// Parses server-sent events. The events must not depend on the sizes of the chunks, and must not exceed their limit.
func fuzzEvents(_ data: Data) {
  guard let cut = data.first else { return }
  let bytes = data.dropFirst()
  var whole = ServerSentEventParser(limit: 4096)
  var parts = whole
  let expected = events(&whole, [Data(bytes)])
  let seen = events(&parts, fragments(Data(bytes), Int(cut % 16) + 1))
  check(expected == seen, "cut into pieces of \(cut % 16 + 1) the events are \(seen), else \(expected)")
  check(whole.lastID == parts.lastID && whole.retry == parts.retry, "the parser's state depends on the cuts")
  for event in expected where event.data.utf8.count > 3 * 4096 { check(false, "an event beyond its limit") }
}

/// Parses lines, with both kinds of line endings.
func fuzzLines(_ data: Data) {
  guard let cut = data.first else { return }
  for ending in [LineParser.Ending.lineFeed, .any] {
    var whole = LineParser(ending, limit: 1000)
    var parts = whole
    let expected = lines(&whole, [Data(data.dropFirst())])
    let seen = lines(&parts, fragments(Data(data.dropFirst()), Int(cut % 16) + 1))
    check(expected == seen, "cut into pieces the lines are others")
    check(expected.allSatisfy { $0.count <= 1000 }, "a line beyond its limit")
  }
}

private func fragments(_ data: Data, _ size: Int) -> [Data] {
  stride(from: 0, to: data.count, by: size).map { Data(data.dropFirst($0).prefix(size)) }
}

private func events(_ parser: inout ServerSentEventParser, _ fragments: [Data]) -> [ServerSentEvent] {
  var events: [ServerSentEvent] = []
  for fragment in fragments { do { try parser.feed(fragment) { events.append($0) } } catch { break } }
  return events
}

private func lines(_ parser: inout LineParser, _ fragments: [Data]) -> [[UInt8]] {
  var lines: [[UInt8]] = []
  do {
    for fragment in fragments { try parser.feed(fragment) { lines.append(Array($0)) } }
    parser.finish { lines.append(Array($0)) }
  } catch {}
  return lines
}
