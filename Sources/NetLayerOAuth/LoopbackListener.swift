import PortableFoundation

/// A server on 127.0.0.1 that waits for the redirect of one login (docs/decisions/0036-own-listener.md).
///
/// It serves one connection at a time, and reads of each the head of one request: at most 64 KB within a second, and never a body.
final class LoopbackListener: @unchecked Sendable {  // safe: immutable
  let login: Login
  private let source: any DispatchSourceRead
  private let ended = DispatchGroup()
  private static let maxHead = 64 << 10
  private static let patience: UInt64 = 1_000_000_000

  /// Listens on a port, or on a free one, and calls `end` after a redirect of the login, when the browser has `page`.
  ///
  /// - Throws: Kind `connection` if the port is in use.
  init(
    _ port: UInt16?, _ page: String, _ end: @escaping @Sendable (Login.Outcome) -> Void,
    for makeLogin: (UInt16) throws(NetworkError) -> Login
  ) throws(NetworkError) {
    let (socket, port) = try Self.open(on: port ?? 0)
    let login: Login
    do { login = try makeLogin(port) } catch {
      closeDescriptor(socket)
      throw error
    }
    self.login = login
    source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: DispatchQueue(label: "NetLayer.OAuth"))
    source.setEventHandler { Self.serve(accept(socket, nil, nil), login, page, end) }
    ended.enter()
    source.setCancelHandler { [ended] in
      closeDescriptor(socket)
      ended.leave()
    }
    source.resume()
  }

  /// Closes the port and the connection.
  func stop() async {
    source.cancel()
    await withUnsafeContinuation { closed in ended.notify(queue: .global()) { closed.resume() } }
  }

  private static func serve(_ visitor: Int32, _ login: Login, _ page: String, _ end: (Login.Outcome) -> Void) {
    // The process may have no free descriptor, which no event reports.
    guard visitor >= 0 else { return _ = usleep(10_000) }
    prepare(visitor, quiet)
    let outcome = head(of: visitor).flatMap(LoopbackAddress.url).map(login.outcome)
    let status = outcome?.status ?? 400
    // The buffer of a new connection has room for it.
    let bytes = Array(response(status, String(page.prefix(2000))).utf8)
    _ = send(visitor, bytes, bytes.count, flags)
    _ = shutdown(visitor, Int32(SHUT_WR))
    closeDescriptor(visitor)
    if status == 200, let outcome { end(outcome) }
  }

  private static func head(of visitor: Int32) -> ArraySlice<UInt8>? {
    let deadline = DispatchTime.now().uptimeNanoseconds + patience
    var (head, bytes) = ([UInt8](), [UInt8](repeating: 0, count: maxHead))
    while head.count < maxHead, case let now = DispatchTime.now().uptimeNanoseconds, now < deadline {
      var event = pollfd(fd: visitor, events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, Int32((deadline - now) / 1_000_000) + 1) > 0 else { continue }
      let count = recv(visitor, &bytes, maxHead - head.count, 0)
      guard count > 0 else { return nil }
      head += bytes[..<count]
      if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) { return head[..<end.lowerBound] }
    }
    return nil
  }

  /// Returns the response. A browser stores nothing of it, runs nothing in it, and sends the URL with the code to no other page
  /// (RFC 9700 §4.2.4).
  private static func response(_ status: Int, _ page: String) -> String {
    let body = status == 200 ? page : "This is not the redirect of the sign-in that waits here."
    let fields = [
      "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Refused")", "Content-Type: text/plain; charset=utf-8",
      "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
      "Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Connection: close", "", body,
    ]
    return fields.joined(separator: "\r\n")
  }
}

extension LoopbackListener {
  #if canImport(Darwin)
    private static let (stream, flags, quiet): (Int32, Int32, Int32) = (SOCK_STREAM, 0, SO_NOSIGPIPE)
  #elseif canImport(Glibc)
    private static let (stream, flags, quiet) = (Int32(SOCK_STREAM.rawValue), Int32(MSG_NOSIGNAL), Int32(0))
  #elseif canImport(Musl) || canImport(Android)
    private static let (stream, flags, quiet) = (SOCK_STREAM, Int32(MSG_NOSIGNAL), Int32(0))
  #endif

  private static func open(on port: UInt16) throws(NetworkError) -> (Int32, UInt16) {
    let listener = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The connections of a former login on this port may still wait for their last packets.
    prepare(listener, SO_REUSEADDR)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else {
      let reason = "127.0.0.1:\(port) can't receive the redirect: \(SystemError.text(of: SystemError.last))"
      closeDescriptor(listener)
      throw NetworkError(kind: .connection, reason: "\(reason); end the other program or login, or choose another port")
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  private static func prepare(_ socket: Int32, _ option: Int32) {
    var on: Int32 = 1
    _ = setsockopt(socket, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size))
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }
}
