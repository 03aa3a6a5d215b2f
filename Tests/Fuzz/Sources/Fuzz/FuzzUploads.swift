import Foundation

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// Reads the fields of an upload's response, and lets the state machine follow them; then reads the bytes as a note.
///
/// The input is a status, then the values of five fields, separated by bytes 0xFF.
func fuzzUploads(_ data: Data) {
  fuzzNote(data)
  let parts = data.dropFirst().split(separator: 0xFF, maxSplits: 4, omittingEmptySubsequences: false)
    .map { String(decoding: $0, as: UTF8.self) }
  guard parts.count == 5, let first = data.first, let url = URL(string: "https://h/files") else { return }
  let names = ["Upload-Offset", "Upload-Complete", "Upload-Limit", "Location", "Retry-After"]
  let status = [200, 201, 204, 307, 400, 404, 409, 410, 413, 423, 429, 500, 503][Int(first) % 13]
  let response = Response(
    request: Request(url: url), status: status,
    headers: HTTPHeaders(zip(names, parts).map { HTTPHeaders.Field(name: $0, value: $1) }))
  for method in [UploadProtocol.tus, .ietf()] {
    let reply = method.reply(response)
    for number in [reply.offset, reply.maxSize, reply.maxAppend, reply.minAppend] {
      check(number.map { (0...999_999_999_999_999).contains($0) } ?? true, "a number out of range: \(reply)")
    }
    if let place = reply.location {
      check(place.scheme?.lowercased() == "https" && place.user == nil, "an upload at \(place)")
    }
    follow(method, reply)
  }
}

/// Repeats a response in every phase. The number of requests is limited, and all ranges are within the file.
private func follow(_ method: UploadProtocol, _ reply: UploadState.Reply) {
  guard let url = URL(string: "https://h/uploads/1") else { return }
  let size: Int64 = 20_000
  let file = FileVersion(size: size, changed: 0, start: "", end: "")
  for stored in [nil, UploadState.Note(url: url, file: file, isEnding: true)] {
    var state = UploadState(method, file: file, attempts: 8)
    var actions = state.handle(.start(stored))
    for round in 0... {
      // A server may ask for requests of one byte.
      check(round < 50_000, "an upload without an end: \(reply)")
      for case .send(let from, let count) in actions {
        check(from >= 0 && count >= 0 && from + count <= size, "bytes \(from)+\(count)")
      }
      if actions.contains(where: { if case .fail = $0 { true } else { $0 == .finish } }) { break }
      let isPausing = actions.contains { if case .pause = $0 { true } else { false } }
      actions = state.handle(isPausing ? .resumed : .reply(reply))
    }
  }
}

/// A note that is read is the same when it is written again.
private func fuzzNote(_ data: Data) {
  guard let record = DurableRecord(data) else { return }
  check(DurableRecord(record.bytes)?.bytes == record.bytes, "another record")
  guard let note = UploadState.Note(record.head) else { return }
  var written = record
  check((try? note.write(to: &written)) != nil, "a note that can't be written")
  check(UploadState.Note(written.head) == note, "another note")
}
