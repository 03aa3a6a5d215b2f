import PortableFoundation

/// The client's side of an open WebSocket (RFC 6455 §5 to §7), without I/O or clock. `feed` accepts received bytes,
/// `next` returns events, and `takeOutput` returns the bytes to send.
///
/// An announced length reserves no memory. Messages are parsed one at a time, so that a pause leaves the rest of the
/// input unparsed.
struct WebSocketProtocol {
  enum Event {
    case message(WebSocketMessage)
    /// The server's close frame has arrived, or the time limit for it has passed. No further event follows.
    case closed(WebSocketClose)
    /// The server has violated the protocol. No further event follows.
    case failed(WebSocketFrame.Violation)
    /// The server has not responded to a ping. No further event follows.
    case unresponsive
  }

  /// The number of unsent bytes above which only the latest ping receives a pong (§5.5.3).
  private static let pongLimit = 1 << 16
  /// The minimum size of a message that is worth compressing.
  private static let compressionSize = 64
  /// The maximum number of bytes in the reason of a close frame (§5.5.1).
  private static let maxReason = WebSocketFrame.maxControl - 2

  private enum State { case open, closing, closed }

  private let options: WebSocketOptions
  private let pingInterval: UInt64
  private let pongTimeout: UInt64
  private let closeTimeout: UInt64
  private let compressor: (any WebSocketCompressor)?
  private var state = State.open
  private var random = SystemRandomNumberGenerator()

  private var input: [UInt8] = []
  private var start = 0
  /// The frame whose payload is being read, and the number of its missing bytes.
  private var frame: WebSocketFrame.Head?
  private var missing = 0
  /// The opcode of the message whose fragments are being read.
  private var kind: WebSocketFrame.Opcode?
  private var isCompressed = false
  private var message: [UInt8] = []
  private var check = UTF8Check()

  private var output: [UInt8] = []
  private var latestPing: [UInt8]?
  private var lastInput: UInt64
  private var pingSentAt: UInt64?
  private var closeSentAt: UInt64 = 0

  init(_ options: WebSocketOptions, compressor: (any WebSocketCompressor)? = nil, at now: UInt64) {
    (self.options, self.compressor, lastInput) = (options, compressor, now)
    (pingInterval, pongTimeout) = (Deadline.span(options.pingInterval), Deadline.span(options.pongTimeout))
    closeTimeout = Deadline.span(options.closeTimeout)
  }

  /// Whether messages can be sent.
  var isOpen: Bool { state == .open }

  /// Whether no event follows.
  var isClosed: Bool { state == .closed }

  // MARK: Sending

  /// Writes `message` to the output.
  mutating func send(_ message: WebSocketMessage) {
    guard isOpen else { return }
    switch message {
    case .text(var text): text.withUTF8 { write(.text, UnsafeRawBufferPointer($0)) }
    case .binary(let data): data.withUnsafeBytes { write(.binary, $0) }
    }
  }

  /// Writes a close frame to the output. From then on, messages are dropped until the server's close frame arrives.
  mutating func close(_ code: CloseCode, reason: String = "", at now: UInt64) {
    guard isOpen else { return }
    writeClose(code, reason)
    (state, closeSentAt) = (.closing, now)
  }

  /// The number of unsent bytes, without a postponed pong.
  var outputCount: Int { output.count }

  /// Removes and returns the bytes to send, which may be empty.
  mutating func takeOutput() -> [UInt8] {
    if let ping = latestPing.take() { ping.withUnsafeBytes { write(.pong, $0) } }
    var taken: [UInt8] = []
    swap(&taken, &output)
    return taken
  }

  private mutating func write(_ opcode: WebSocketFrame.Opcode, _ payload: UnsafeRawBufferPointer) {
    let mask = UInt32(truncatingIfNeeded: random.next())
    if let compressor, !opcode.isControl, payload.count >= Self.compressionSize,
      let compressed = compressor.compress(payload)
    {
      compressed.withUnsafeBytes { WebSocketFrame.append(opcode, $0, isCompressed: true, mask: mask, to: &output) }
    } else {
      WebSocketFrame.append(opcode, payload, mask: mask, to: &output)
    }
  }

  private mutating func writeClose(_ code: CloseCode, _ reason: String) {
    var payload: [UInt8] = []
    if code.mayBeSent {
      withUnsafeBytes(of: code.rawValue.bigEndian) { payload.append(contentsOf: $0) }
      var text = reason[...]
      while text.utf8.count > Self.maxReason { text.removeLast() }
      payload.append(contentsOf: text.utf8)
    }
    latestPing = nil
    payload.withUnsafeBytes { write(.close, $0) }
  }

  // MARK: Time

  /// The time at which to call `expire`, in nanoseconds.
  var deadline: UInt64 {
    switch state {
    case .closed: Deadline.never
    case .closing: Deadline.after(closeTimeout, from: closeSentAt)
    case .open:
      pingSentAt.map { Deadline.after(pongTimeout, from: $0) }
        ?? Deadline.after(pingInterval, from: lastInput)
    }
  }

  /// Sends a ping if one is due, and ends the socket when a time limit has passed. While the client is paused, missing
  /// data from the server is not an error.
  mutating func expire(at now: UInt64, isPaused: Bool = false) -> Event? {
    guard now >= deadline else { return nil }
    if state == .closing {
      state = .closed
      return .closed(WebSocketClose(code: .abnormal))
    }
    if pingSentAt == nil {
      pingSentAt = now
      write(.ping, UnsafeRawBufferPointer(start: nil, count: 0))
      return nil
    }
    if isPaused {
      touch(at: now)
      return nil
    }
    state = .closed
    return .unresponsive
  }

  /// Restarts the idle measurement, because the client was paused until now.
  mutating func touch(at now: UInt64) { (lastInput, pingSentAt) = (now, nil) }

  // MARK: Receiving

  /// Appends received bytes.
  mutating func feed(_ bytes: UnsafeRawBufferPointer, at now: UInt64) {
    touch(at: now)
    guard state != .closed else { return }
    input.append(contentsOf: bytes)
  }

  /// Returns the next event; `nil` if more bytes are needed.
  mutating func next() -> Event? {
    while state != .closed {
      do {
        switch try step() {
        case .event(let event): return event
        case .proceed: continue
        case .needsInput:
          compact()
          return nil
        }
      } catch {
        let wasOpen = isOpen
        if wasOpen { writeClose(error.code, error.reason) }
        end()
        return wasOpen ? .failed(error) : .closed(WebSocketClose(code: .abnormal))
      }
    }
    return nil
  }

  private enum Step {
    case event(Event)
    case proceed
    case needsInput
  }

  private mutating func step() throws(WebSocketFrame.Violation) -> Step {
    guard let frame else {
      guard let head = try readHead() else { return .needsInput }
      if !head.opcode.isControl { try begin(head) }
      start += head.size
      (frame, missing) = (head, head.length)
      return .proceed
    }
    let available = Swift.min(missing, input.count - start)
    if frame.opcode.isControl {
      guard available == missing else { return .needsInput }
      let payload = Array(input[start..<start + available])
      start += available
      self.frame = nil
      return try control(frame.opcode, payload)
    }
    guard available > 0 || missing == 0 else { return .needsInput }
    missing -= available
    let isLast = missing == 0 && frame.isFinal
    try take(start..<start + available, isLast: isLast)
    start += available
    if missing == 0 { self.frame = nil }
    guard isLast else { return .proceed }
    return try finishMessage().map { .event(.message($0)) } ?? .proceed
  }

  private func readHead() throws(WebSocketFrame.Violation) -> WebSocketFrame.Head? {
    // A `Result`, because `withUnsafeBytes` does not support typed errors.
    let read = input.withUnsafeBytes { bytes in
      Result { () throws(WebSocketFrame.Violation) in
        try WebSocketFrame.head(of: UnsafeRawBufferPointer(rebasing: bytes[start...]))
      }
    }
    guard let head = try read.get() else { return nil }
    guard !head.isMasked else { throw .breaksProtocol("a frame from the server is masked") }
    return head
  }

  /// Moves a chunk of a data frame's payload into the message.
  private mutating func take(_ range: Range<Int>, isLast: Bool) throws(WebSocketFrame.Violation) {
    guard state == .open else { return }
    var (message, check) = ([UInt8](), self.check)
    swap(&message, &self.message)
    defer {
      swap(&message, &self.message)
      self.check = check
    }
    let (isText, isCompressed, limit) = (kind == .text, isCompressed, options.maxMessageSize)
    let taken = input.withUnsafeBytes { bytes in
      Result { () throws(WebSocketFrame.Violation) in
        let part = UnsafeRawBufferPointer(rebasing: bytes[range])
        if isCompressed {
          try compressor?.decompress(part, isLast: isLast, limit: limit, into: &message)
          return
        }
        guard !isText || check.take(part) else { throw Self.invalidText }
        message.append(contentsOf: part)
      }
    }
    try taken.get()
  }

  /// Checks the header of a data frame.
  private mutating func begin(_ frame: WebSocketFrame.Head) throws(WebSocketFrame.Violation) {
    if frame.opcode == .continuation {
      guard kind != nil else { throw .breaksProtocol("a continuation frame does not follow a fragmented message") }
      guard !frame.isCompressed else { throw .breaksProtocol("a continuation frame is marked as compressed") }
    } else {
      guard kind == nil else { throw .breaksProtocol("a message begins before the previous one is complete") }
      guard !frame.isCompressed || compressor != nil else {
        throw .breaksProtocol("a message is compressed, but compression was not negotiated")
      }
      (kind, isCompressed, check) = (frame.opcode, frame.isCompressed, UTF8Check())
    }
    guard !isOpen || frame.length <= options.maxMessageSize - (isCompressed ? 0 : message.count) else {
      throw Self.tooLarge(options.maxMessageSize)
    }
  }

  private mutating func finishMessage() throws(WebSocketFrame.Violation) -> WebSocketMessage? {
    defer {
      kind = nil
      // Releases the buffer of a large message.
      message.removeAll(keepingCapacity: message.count <= 1 << 16)
    }
    guard isOpen else { return nil }
    guard kind == .text else { return .binary(Data(message)) }
    if isCompressed {
      let isValid = message.withUnsafeBytes { check.take($0) }
      guard isValid else { throw Self.invalidText }
    }
    guard check.isComplete else { throw Self.invalidText }
    return .text(String(decoding: message, as: UTF8.self))
  }

  private mutating func control(
    _ opcode: WebSocketFrame.Opcode, _ payload: [UInt8]
  ) throws(WebSocketFrame.Violation) -> Step {
    switch opcode {
    case .ping where isOpen:
      if output.count < Self.pongLimit { payload.withUnsafeBytes { write(.pong, $0) } } else { latestPing = payload }
      return .proceed
    case .close:
      let close = try Self.close(payload)
      if isOpen { writeClose(close.code, "") }
      end()
      return .event(.closed(close))
    default: return .proceed
    }
  }

  private static func close(_ payload: [UInt8]) throws(WebSocketFrame.Violation) -> WebSocketClose {
    guard !payload.isEmpty else { return WebSocketClose(code: .noCode) }
    guard payload.count >= 2 else { throw .breaksProtocol("a close frame has an incomplete code") }
    let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.mayBeSent else { throw .breaksProtocol("a close frame has the invalid code \(code)") }
    var check = UTF8Check()
    let isText = payload.withUnsafeBytes { check.take(UnsafeRawBufferPointer(rebasing: $0[2...])) }
    guard isText, check.isComplete else {
      throw WebSocketFrame.Violation(code: .invalidData, reason: "the reason in a close frame is not valid UTF-8")
    }
    return WebSocketClose(code: code, reason: String(decoding: payload[2...], as: UTF8.self))
  }

  private mutating func end() {
    state = .closed
    (input, start, frame, message) = ([], 0, nil, [])
  }

  /// Removes the bytes that have been read from the front of the input.
  private mutating func compact() {
    guard start > 0 else { return }
    if start == input.count { input.removeAll(keepingCapacity: true) } else { input.removeFirst(start) }
    start = 0
  }

  static let invalidText = WebSocketFrame.Violation(code: .invalidData, reason: "a text message is not valid UTF-8")

  static func tooLarge(_ limit: Int) -> WebSocketFrame.Violation {
    WebSocketFrame.Violation(code: .tooLarge, reason: "a message is larger than \(limit) bytes")
  }
}

/// Compresses the messages of one socket and decompresses the server's messages (RFC 7692 §7.2).
protocol WebSocketCompressor: AnyObject {
  /// Returns the compressed payload; `nil` if there is not enough memory.
  func compress(_ payload: UnsafeRawBufferPointer) -> [UInt8]?

  /// Appends the decompressed content of the next chunk to `message`.
  ///
  /// - Throws: `tooLarge` for more than `limit` bytes in the message, `invalidData` for invalid deflate data.
  func decompress(
    _ part: UnsafeRawBufferPointer, isLast: Bool, limit: Int, into message: inout [UInt8]
  ) throws(WebSocketFrame.Violation)
}
