import Foundation

@testable import HTTPTransport

/// Reads frames of a server, complete and in chunks. The events must be equal, and messages at most as long as the input.
///
/// The first byte is the size of the chunks, the second the maximum size of a message in units of 16 bytes.
func fuzzSockets(_ data: Data) {
  guard data.count > 2 else { return }
  let bytes = [UInt8](data.dropFirst(2))
  let options = WebSocketOptions(maxMessageSize: Int(data[data.startIndex + 1]) * 16, compression: true)
  let whole = events([bytes[...]], options)
  let size = Swift.max(1, Int(data[data.startIndex]))
  let fragments = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<Swift.min($0 + size, bytes.count)] }
  check(whole == events(fragments, options), "pieces of \(size) bytes have other events")
  fuzzOpening(bytes, size)
}

private func events(_ fragments: [ArraySlice<UInt8>], _ options: WebSocketOptions) -> [String] {
  var socket = WebSocketProtocol(options, at: 0)
  var events: [String] = []
  var (read, received) = (0, 0)
  for fragment in fragments {
    fragment.withUnsafeBytes { socket.feed($0, at: 0) }
    read += fragment.count
    while let event = socket.next() {
      switch event {
      case .message(let message):
        received += message.byteCount
        check(message.byteCount <= options.maxMessageSize, "a message of \(message.byteCount) bytes is too large")
        check(received <= read, "\(received) bytes of messages came out of \(read)")
        events.append("\(message)")
      case .closed(let close): events.append("\(close)")
      case .failed(let violation): events.append("failed \(violation.code)")
      case .unresponsive: check(false, "a deadline without time")
      }
    }
    check(socket.takeOutput().count <= 70_000 + read, "the client says more than it is asked")
  }
  return events
}

/// Reads the response to an opening request in chunks.
private func fuzzOpening(_ bytes: [UInt8], _ size: Int) {
  var opening = WebSocketOpening()
  for start in stride(from: 0, to: bytes.count, by: size) {
    bytes[start..<Swift.min(start + size, bytes.count)].withUnsafeBytes { opening.feed($0) }
    guard let step = try? opening.next() else { return }
    switch step {
    case .needsInput: continue
    case .open(let headers, let rest):
      check(rest.count <= bytes.count, "more follows the head than came in")
      let agreement = try? WebSocketHandshake(WebSocketOptions(), offersCompression: false).check(headers)
      return check(agreement == nil, "a key was guessed")
    case .response(let status, _, let body):
      return check((200...999).contains(status) && body.count <= bytes.count, "the response is not what came in")
    }
  }
}
