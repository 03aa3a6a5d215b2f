import Foundation
import NetLayer

@testable import NetLayerRecording

/// Reads the bytes as an archive, and writes and reads the result until it no longer changes, which takes one step.
func fuzzHAR(_ data: Data) {
  guard let entries = try? HARReader.entries(in: data),
    let first = try? HARReader.entries(in: HARWriter.archive(entries))
  else { return }
  check(first.count == entries.count, "an entry was lost")
  check((try? HARReader.entries(in: HARWriter.archive(first))) == first, "a written archive changes")
  for entry in first {
    let hidden = entry.redacted(.standard)
    check(hidden.status == entry.status && hidden.method == entry.method, "the redaction changes the result")
    check(entry.timings.wait >= 0 && entry.time >= 0, "a negative time")
  }
}
