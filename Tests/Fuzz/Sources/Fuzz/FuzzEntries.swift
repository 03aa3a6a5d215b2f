import Foundation

@testable import HTTPTransport
@testable import NetLayer

/// A file of an outbox: as it is, and with a first part and a checksum that fit, so that the head is read.
func fuzzEntries(_ data: Data) {
  let id = UUID()
  func read(_ bytes: Data) {
    guard let entry = OutboxEntry(bytes, id: id) else { return }
    check(entry.call.body == DurableRecord(bytes)?.body, "another body")
    guard entry.isKnown else { return }
    guard let again = OutboxEntry(entry.bytes, id: id) else { fatalError("what was written can't be read") }
    check(again.call.headers == entry.call.headers && again.call.path == entry.call.path, "another call")
    check(again.account == entry.account && again.key == entry.key && again.type == entry.type, "another head")
    _ = entry.call.content
    _ = entry.size
  }
  read(data)
  // The name of a file.
  if let found = OutboxName.read(String(decoding: data.prefix(80), as: UTF8.self)) {
    check(found.name.text.utf8.count == 53, "a short name")
  }
  // The first byte splits the rest into head and body.
  guard let first = data.first else { return }
  let rest = data.dropFirst()
  let split = rest.startIndex + min(Int(first) * 8, rest.count)
  var file = Data("NLentry1".utf8)
  func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { file.append(contentsOf: $0) }
  }
  put(UInt32(first % 3))
  put(UInt32(split - rest.startIndex))
  put(UInt64(rest.endIndex - split))
  let sum = (file + rest).withUnsafeBytes(Checksum.crc32)
  put(sum)
  read(file + rest)
}
