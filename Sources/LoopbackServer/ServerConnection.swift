import Dispatch
import PortableFoundation

/// One accepted connection: its unparsed input, its output, and its timer.
final class ServerConnection {
  private let socket: Socket
  private let number: Int
  private let log: RequestLog
  private let maxBodySize: TestServer.BodyLimit?
  private var parser = RequestParser()
  private var script: ResponseScript?
  private var webSocket: ServerSocket?
  private var output: [UInt8] = []
  private var written = 0
  private(set) var isClosed = false
  /// The uptime in nanoseconds at which the next part is due; `nil` without a delay.
  private(set) var due: UInt64?
  /// The uptime in nanoseconds at which the client last sent or accepted bytes.
  private(set) var lastActivity = DispatchTime.now().uptimeNanoseconds
  /// Whether neither a timed response nor a WebSocket is running.
  var isIdle: Bool { due == nil && webSocket == nil }

  /// The maximum number of queued bytes; the script waits until the socket accepts some of them, so that a slow client
  /// uses little memory.
  private static let outputLimit = 1 << 18

  init(_ socket: Socket, number: Int, log: RequestLog, maxBodySize: TestServer.BodyLimit?) {
    self.socket = socket
    self.number = number
    self.log = log
    self.maxBodySize = maxBodySize
  }

  /// Whether the server reads. It stops while it can't use what has already arrived, because the client does not read, or
  /// the response or the script of a WebSocket waits.
  var reads: Bool {
    guard let webSocket else { return script == nil || parser.waitingCount <= RequestParser.maxHead }
    if webSocket.waitingCount <= RequestParser.maxHead { return webSocket.reads }
    let isFull = output.count - written > Self.outputLimit
    return webSocket.reads && !isFull && due == nil
  }

  /// Reads the available bytes. Returns `false` if the connection has ended.
  func fill(_ scratch: UnsafeMutableRawBufferPointer) -> Bool {
    // A limited number of reads per turn, so that a fast sender does not starve the others.
    for _ in 0..<4 {
      if !reads { return true }
      let count = socket.receive(scratch)
      if count > 0 {
        lastActivity = DispatchTime.now().uptimeNanoseconds
        let bytes = UnsafeRawBufferPointer(rebasing: scratch[..<count])
        if webSocket == nil { parser.append(bytes) } else { webSocket?.feed(bytes) }
        if count < scratch.count { return true }
      } else {
        if count < 0, errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return true }
        close()
        return false
      }
    }
    return true
  }

  func isDue(_ now: UInt64) -> Bool { due.map { $0 <= now } ?? false }

  /// The events for `poll`. Writability is included only while there is output.
  var wantedEvents: Int16 {
    Int16((reads ? POLLIN : 0) | (written < output.count ? POLLOUT : 0))
  }

  /// Responds to complete requests in order and writes, as long as input, delays and buffer space permit.
  func drive(
    _ expectation: (TestServer.Request) -> Int, _ cut: (TestServer.Request) -> Int?,
    _ respond: (TestServer.Request) -> TestServer.Response
  ) {
    var hadOutput: Bool
    repeat {
      while !isClosed {
        if webSocket != nil {
          driveSocket()
          break
        }
        if script == nil, !beginNext(expectation, cut, respond) { break }
        if script != nil, !advance() { break }
      }
      hadOutput = written < output.count
      // The script may have waited for room. If the socket has made room meanwhile, no event reports it.
    } while !isClosed && flush() && hadOutput && due == nil
  }

  private func beginNext(
    _ expectation: (TestServer.Request) -> Int, _ cut: (TestServer.Request) -> Int?,
    _ respond: (TestServer.Request) -> TestServer.Response
  ) -> Bool {
    switch parser.next(connection: number, limit: maxBodySize, cut: cut) {
    case .incomplete: return false
    case .awaitsContinue(let request):
      let status = expectation(request)
      if status == 100 {
        output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
      } else {
        begin(ResponseScript(.status(status), head: false, keepAlive: false))
      }
    case .request(let request, let keepAlive):
      let response = respond(request)
      if let script = response.socket {
        guard let key = request.header("Sec-WebSocket-Key") else {
          begin(ResponseScript(.status(426), head: false, keepAlive: false))
          return true
        }
        output.append(contentsOf: ServerSocket.head(response.headers, script.accept ?? ServerSocket.accept(key)))
        var opened = ServerSocket(script)
        parser.takeRest().withUnsafeBytes { opened.feed($0) }
        webSocket = opened
        return true
      }
      begin(ResponseScript(response, head: request.method == "HEAD", keepAlive: keepAlive))
    case .malformed(let status):
      begin(ResponseScript(.text("not a valid HTTP/1.1 request", status: status), head: false, keepAlive: false))
    }
    return true
  }

  private func begin(_ new: ResponseScript) {
    script = new
    schedule()
  }

  private func schedule() {
    guard let delay = script?.nextDelay, delay > 0 else {
      due = nil
      return
    }
    due = Self.uptime(after: delay)
  }

  /// Returns the uptime in nanoseconds after `seconds`, at most 30 years: handlers may compute a delay from a request.
  private static func uptime(after seconds: Double) -> UInt64 {
    DispatchTime.now().uptimeNanoseconds + (seconds > 0 ? UInt64(min(seconds, 1e9) * 1e9) : 0)
  }

  /// Runs the script of a WebSocket, as long as input, delays and buffer space permit.
  private func driveSocket() {
    while !isClosed {
      if let due {
        guard due <= DispatchTime.now().uptimeNanoseconds else { return }
        self.due = nil
      }
      if output.count - written > Self.outputLimit, !flush() { return }
      switch webSocket?.next() ?? .nothing {
      case .nothing: return
      case .bytes(let bytes): output.append(contentsOf: bytes)
      case .wait(let seconds): due = Self.uptime(after: seconds)
      case .end(let isReset):
        guard flush() else { return }
        if isReset { socket.resetOnClose() }
        close()
      }
    }
  }

  /// Continues the script. Returns `true` if it is finished and the next request may start.
  private func advance() -> Bool {
    var taken = 0
    while script?.nextDelay != nil {
      // An endless body on a fast socket must not block the other connections.
      if taken > Self.outputLimit, due == nil {
        due = DispatchTime.now().uptimeNanoseconds
        return false
      }
      if let due {
        guard due <= DispatchTime.now().uptimeNanoseconds else { return false }
        self.due = nil
      }
      if output.count - written > Self.outputLimit, !flush() { return false }
      let part = script?.takeNext() ?? []
      taken += part.count
      output.append(contentsOf: part)
      schedule()
    }
    switch script?.ending ?? .keepAlive {
    case .keepAlive:
      script = nil
      return true
    case .hang: return false
    case .close, .reset:
      guard flush() else { return false }
      if script?.ending == .reset { socket.resetOnClose() }
      close()
      return false
    }
  }

  /// Writes as many bytes as the socket accepts. Returns `true` if none are left.
  private func flush() -> Bool {
    while written < output.count {
      let count = output.withUnsafeBytes { socket.transmit(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      if count > 0 {
        lastActivity = DispatchTime.now().uptimeNanoseconds
        written += count
        log.sentByteCount.add(count, ordering: .relaxed)
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        return false
      } else if errno != EINTR {
        close()
        return false
      }
    }
    output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
    written = 0
    return true
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    socket.close()
  }
}
