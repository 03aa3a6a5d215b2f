import Foundation

@testable import DurableFiles
@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// A file of an outbox: as it is, and with a checksum that fits, so that the head is read.
func fuzzEntries(_ data: Data) {
  let id = UUID()
  func read(_ bytes: Data) {
    guard let entry = OutboxEntry(bytes, id: id) else { return }
    check(entry.call.body == DurableRecord(bytes)?.body, "another body")
    guard entry.isKnown else { return }
    guard let bytes = try? entry.bytes, let again = OutboxEntry(bytes, id: id) else {
      fatalError("what was written can't be read")
    }
    check(again.call.headers == entry.call.headers && again.call.path == entry.call.path, "another call")
    check(again.account == entry.account && again.lane == entry.lane && again.type == entry.type, "another head")
    _ = entry.call.content
    _ = entry.size
  }
  read(data)
  // The name of a file.
  if let found = OutboxName.read(String(decoding: data.prefix(80), as: UTF8.self)) {
    check(found.name.text.utf8.count == 53, "a short name")
  }
  // A head and a body with a checksum that fits.
  read(DurableFile.framed(data))
}
