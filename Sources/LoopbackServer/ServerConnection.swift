import Dispatch
import Foundation

/// One accepted connection: what was read and not yet understood, what is to be written, and when.
final class ServerConnection {
  private let socket: Socket
  private let number: Int
  private let log: RequestLog
  private var parser = RequestParser()
  private var script: ResponseScript?
  private var output: [UInt8] = []
  private var written = 0
  private(set) var isClosed = false
  /// When the next piece is due (uptime in nanoseconds), or `nil` when nothing waits for the clock.
  private(set) var due: UInt64?

  /// Pieces are queued up to this size before the socket has to take some: a slow client holds little memory.
  private static let outputLimit = 1 << 18

  init(_ socket: Socket, number: Int, log: RequestLog) {
    self.socket = socket
    self.number = number
    self.log = log
  }

  /// Reads what is there; `false` when the connection is gone.
  func fill(_ scratch: UnsafeMutableRawBufferPointer) -> Bool {
    // Few reads a turn, so that one fast sender can't starve the others.
    for _ in 0..<4 {
      let count = socket.receive(scratch)
      if count > 0 {
        parser.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
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

  /// What `poll` shall report: room to write only while something waits for it.
  var wantedEvents: Int16 { Int16(written < output.count ? POLLIN | POLLOUT : POLLIN) }

  /// Answers complete requests in order and writes, until input, time or room is missing.
  func drive(
    _ expectation: (LoopbackServer.Request) -> Int, _ answer: (LoopbackServer.Request) -> LoopbackServer.Response
  ) {
    while !isClosed {
      if script == nil, !beginNext(expectation, answer) { break }
      if script != nil, !advance() { break }
    }
    if !isClosed { _ = flush() }
  }

  private func beginNext(
    _ expectation: (LoopbackServer.Request) -> Int, _ answer: (LoopbackServer.Request) -> LoopbackServer.Response
  ) -> Bool {
    switch parser.next(connection: number) {
    case .incomplete: return false
    case .awaitsContinue(let request):
      let status = expectation(request)
      if status == 100 {
        output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
      } else {
        begin(ResponseScript(.status(status), head: false, keepAlive: false))
      }
    case .request(let request, let keepAlive):
      let response = answer(request)
      begin(ResponseScript(response, head: request.method == "HEAD", keepAlive: keepAlive))
    case .malformed(let status):
      begin(ResponseScript(.text("no HTTP/1.1 request", status: status), head: false, keepAlive: false))
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
    due = DispatchTime.now().uptimeNanoseconds + UInt64(delay * 1e9)
  }

  /// Moves the script on; `true` when it is finished and the next request may begin.
  private func advance() -> Bool {
    var taken = 0
    while script?.nextDelay != nil {
      // Content without end, on a socket that takes it all, must not keep the thread from the other connections.
      if taken > Self.outputLimit, due == nil {
        due = DispatchTime.now().uptimeNanoseconds
        return false
      }
      if let due {
        guard due <= DispatchTime.now().uptimeNanoseconds else { return false }
        self.due = nil
      }
      if output.count - written > Self.outputLimit, !flush() { return false }
      let piece = script?.takeNext() ?? []
      taken += piece.count
      output.append(contentsOf: piece)
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

  /// Writes as much as the socket takes; `true` when nothing is left.
  private func flush() -> Bool {
    while written < output.count {
      let count = output.withUnsafeBytes { socket.transmit(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      if count > 0 {
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
