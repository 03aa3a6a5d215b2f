import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A blocking socket on 127.0.0.1, for bytes that no HTTP client or server would send.
package final class RawClient: Sendable {
  private let descriptor: Int32

  package init(port: UInt16) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    // A server that never responds must fail the test instead of blocking it.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
  }

  /// Creates the server end of an accepted connection.
  package init(accepted descriptor: Int32) {
    self.descriptor = descriptor
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { _ = close(descriptor) }

  /// Reads one head and no further bytes; `nil` if the connection ends earlier.
  package func receiveHead() -> String? {
    var head = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      // The bytes after the head stay in the socket.
      let seen = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK))
      guard seen > 0 else { return nil }
      let before = head.count
      head += buffer.prefix(seen)
      let end = head.range(of: Data("\r\n\r\n".utf8), in: Swift.max(0, before - 3)..<head.count)?.upperBound
      guard recv(descriptor, &buffer, (end ?? head.count) - before, 0) > 0 else { return nil }
      if let end { return String(decoding: head.prefix(end), as: UTF8.self) }
    }
  }

  /// Reads exactly `count` bytes; `nil` if the connection ends earlier.
  package func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let read = bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress?.advanced(by: filled), count - filled, 0)
      }
      guard read > 0 else { return nil }
      filled += read
    }
    return bytes
  }

  /// Reads and discards up to `count` bytes, and returns their number; 0 at the end.
  package func skip(_ count: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: count)
    return Swift.max(0, recv(descriptor, &buffer, count, 0))
  }

  /// Forwards all received bytes and then the end to `other`.
  package func pass(to other: RawClient) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { other.send(buffer[..<count]) }
    other.finish()
  }

  /// Closes the connection for sending. Receiving still works.
  package func finish() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Resets the connection when it is closed.
  package func resetAtEnd() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  package func send(_ text: String) { send(Array(text.utf8)[...]) }

  package func send(_ bytes: ArraySlice<UInt8>) {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Self.transmit(descriptor, $0, flags) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends `bytes` again and again, at most `limit` bytes in total, until the connection ends or the server has accepted
  /// nothing for half a second. Returns the number of bytes sent.
  package func flood(_ bytes: [UInt8], upTo limit: Int) -> Int {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    defer { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var sent = 0
    var offset = 0
    while sent < limit {
      let count = bytes.withUnsafeBytes {
        Self.transmit(descriptor, UnsafeRawBufferPointer(rebasing: $0[offset...]), flags)
      }
      if count > 0 {
        sent += count
        offset = (offset + count) % bytes.count
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&room, 1, 500) == 0 { return sent }
      } else if errno != EINTR {
        return sent
      }
    }
    return sent
  }

  private static func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #elseif canImport(Musl)
      Musl.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #else
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #endif
  }

  /// Reads until the text ends with `end`, or until the end of the connection if it is `nil`. Returns the text and the error
  /// that ended the connection.
  package func receive(until end: String?) -> (text: String, failure: Int32?) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end, String(decoding: bytes, as: UTF8.self).hasSuffix(end) { break }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 { return (String(decoding: bytes, as: UTF8.self), errno) }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return (String(decoding: bytes, as: UTF8.self), nil)
  }
}
