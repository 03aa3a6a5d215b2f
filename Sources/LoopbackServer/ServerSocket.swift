import DurableFiles
import PortableFoundation

/// The server's side of one WebSocket: its input, and the state of its script.
struct ServerSocket {
  enum Step {
    case nothing
    case bytes([UInt8])
    case wait(Double)
    /// The end of the connection, as soon as all output is written. Further calls of `next()` return it again.
    case end(isReset: Bool)
  }

  private let script: TestServer.WebSocketScript
  private var actions: [TestServer.WebSocketScript.Action]
  private var position = 0
  private var input: [UInt8] = []
  private var start = 0
  private var message: [UInt8] = []
  private var kind: UInt8 = 0
  private var hasClosed = false
  private(set) var reads = true
  /// The maximum number of bytes of a message.
  private let limit: Int
  private var isTooLarge = false

  /// The maximum number of bytes of a message, unless a test states one.
  static let maxMessage = 64 << 20

  init(_ script: TestServer.WebSocketScript, limit: Int = maxMessage) {
    (self.script, self.limit, actions) = (script, limit, script.onOpen)
  }

  /// The number of bytes that have not been parsed.
  var waitingCount: Int { input.count - start }

  mutating func feed(_ bytes: UnsafeRawBufferPointer) { input.append(contentsOf: bytes) }

  mutating func next() -> Step {
    while true {
      if position < actions.count {
        position += 1
        if let step = perform(actions[position - 1]) { return step }
        continue
      }
      (actions, position) = ([], 0)
      guard let (opcode, isFinal, payload) = nextFrame() else {
        guard isTooLarge else { return .nothing }
        actions = [.close(1009, ""), .end]
        continue
      }
      if opcode >= 8 {
        if let own = script.onControl(opcode, payload) {
          actions = own
        } else if opcode == 9 {
          return .bytes(TestServer.WebSocketScript.frame(10, payload))
        } else if opcode == 8 {
          actions = hasClosed ? [.end] : [.raw(TestServer.WebSocketScript.frame(8, payload)), .end]
        }
        continue
      }
      if opcode > 0 { kind = opcode }
      message += payload
      guard isFinal else { continue }
      actions = script.onMessage(kind == 1 ? .text(String(decoding: message, as: UTF8.self)) : .binary(message))
      message.removeAll(keepingCapacity: true)
    }
  }

  private mutating func perform(_ action: TestServer.WebSocketScript.Action) -> Step? {
    switch action {
    case .text(let text): return .bytes(TestServer.WebSocketScript.frame(1, Array(text.utf8)))
    case .binary(let bytes): return .bytes(TestServer.WebSocketScript.frame(2, bytes))
    case .ping(let bytes): return .bytes(TestServer.WebSocketScript.frame(9, bytes))
    case .raw(let bytes): return .bytes(bytes)
    case .wait(let seconds): return .wait(seconds)
    case .close(let code, let reason):
      hasClosed = true
      return .bytes(TestServer.WebSocketScript.frame(8, [UInt8(code >> 8), UInt8(code & 255)] + Array(reason.utf8)))
    case .stopReading:
      reads = false
      return nil
    case .end: return end(isReset: false)
    case .reset: return end(isReset: true)
    }
  }

  private mutating func end(isReset: Bool) -> Step {
    position -= 1
    reads = false
    return .end(isReset: isReset)
  }

  /// Returns the next complete frame from the client, unmasked.
  private mutating func nextFrame() -> (opcode: UInt8, isFinal: Bool, payload: [UInt8])? {
    let count = input.count - start
    guard count >= 2 else { return nil }
    var head = 2
    var length = Int(input[start + 1] & 0x7F)
    let isMasked = input[start + 1] & 0x80 != 0
    let extra = length == 126 ? 2 : length == 127 ? 8 : 0
    guard count >= head + extra else { return nil }
    if extra > 0 { length = input[(start + 2)..<(start + 2 + extra)].reduce(0) { $0 << 8 | Int($1) } & Int.max }
    head += extra + (isMasked ? 4 : 0)
    isTooLarge = length > limit - message.count
    guard !isTooLarge, count - head >= length else { return nil }
    let (first, body) = (input[start], start + head)
    var payload = Array(input[body..<(body + length)])
    if isMasked {
      let key = Array(input[(body - 4)..<body])
      payload.withUnsafeMutableBufferPointer { bytes in
        for index in bytes.indices { bytes[index] ^= key[index & 3] }
      }
    }
    start = body + length
    if start == input.count {
      input.removeAll(keepingCapacity: input.capacity <= 1 << 20)
      start = 0
    } else if start > 1 << 16, start > input.count / 2 {
      input.removeFirst(start)
      start = 0
    }
    return (first & 15, first & 0x80 != 0, payload)
  }

  static func head(_ fields: [(name: String, value: String)], _ accept: String) -> [UInt8] {
    let own = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)]
    let lines = (own + fields.map { ($0.name, $0.value) }).map { "\($0.0): \($0.1)\r\n" }.joined()
    return Array("HTTP/1.1 101 Switching Protocols\r\n\(lines)\r\n".utf8)
  }

  /// Returns the base64 of the SHA-1 of the key and the protocol's GUID (RFC 6455 §4.2.2).
  static func accept(_ key: String) -> String {
    Data(SHA1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
  }
}
