import PortableFoundation

/// A redirect URI on this machine (RFC 8252 §7.3).
struct LoopbackAddress {
  /// The fixed port; `nil` for a free one.
  let port: UInt16?
  private let host: String
  private let path: Substring

  /// Reads a redirect URI.
  ///
  /// - Throws: Kind `invalidRequest` for anything but `http`, a loopback host, a port and a path.
  init(_ redirect: String) throws(NetworkError) {
    let start = redirect.firstRange(of: "://")
    let rest = start.map { redirect[$0.upperBound...] } ?? ""
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let parts = rest[..<slash].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let port = parts.count == 2 ? UInt16(digits: parts[1]) : nil
    let isPlain = redirect.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !redirect.contains { "?#\\".contains($0) }
    guard let start, redirect[..<start.lowerBound].lowercased() == "http", isPlain, let host = parts.first,
      host == "127.0.0.1" || host == "localhost", parts.count == 1 || port ?? 0 > 0
    else {
      throw NetworkError(
        kind: .invalidRequest,
        reason: "the redirect URI \(redirect.debugDescription) must be http://127.0.0.1 or http://localhost, with an optional port "
          + "from 1 to 65535 and a path, without a query")
    }
    (self.port, self.host, path) = (port, String(host), rest[slash...])
  }

  /// Returns the redirect URI with the port that is in use.
  func uri(port: UInt16) -> String { "http://\(host):\(port)\(path)" }
}

/// The head of a request to a listener.
struct LoopbackRequest: Sendable {
  let host: String
  private let target: String

  /// Reads a GET request with one `Host`, which a web page with a name of its own can't choose (DNS rebinding); `nil` for
  /// anything else.
  init?(head: some Collection<UInt8>) {
    guard let text = String(validating: head, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    let hosts = lines.dropFirst().filter { $0.prefix(5).lowercased() == "host:" }
    guard words.count == 3, words[0] == "GET", words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"), hosts.count == 1 else {
      return nil
    }
    (host, target) = (hosts[0].dropFirst(5).trimmingBlanks.lowercased(), String(words[1]))
  }

  var url: String { "http://\(host)\(target)" }

  /// Whether the request is for the host, the port and the path of a redirect URI.
  func isFor(_ redirect: String) -> Bool {
    let place = url.prefix { $0 != "?" && $0 != "#" }
    return place == redirect || place == "\(redirect)/" && redirect.count(where: { $0 == "/" }) == 2
  }
}

extension Login {
  /// Returns the reply to a request at the port, which passes the answer on if the login has ended.
  func reply(
    to request: LoopbackRequest?, page: String, _ end: @escaping @Sendable (Answer) -> Void
  ) -> LoopbackListener.Reply {
    guard let request else { return LoopbackListener.Reply(status: 400) }
    guard request.isFor(redirect) else { return LoopbackListener.Reply(status: 404) }
    let answer = answer(to: request.url)
    if case .foreign = answer { return LoopbackListener.Reply(status: 400) }
    return LoopbackListener.Reply(status: 200, page: page) { end(answer) }
  }
}

/// A server on 127.0.0.1 that waits for the redirect of one login (docs/decisions/0036-own-listener.md).
///
/// It reads the head of one GET request for each connection, of at most 8 KB within 5 s, and never a body. Of more than 16
/// connections, the oldest is closed.
final class LoopbackListener: Sendable {
  struct Reply: Sendable {
    let status: Int
    var page = ""
    /// What to do when the browser has the page.
    var then: (@Sendable () -> Void)?
  }

  private struct Visitor {
    let socket: Int32
    /// The uptime in nanoseconds.
    let deadline: UInt64
    var head: [UInt8] = []
  }

  let port: UInt16
  private let socket: Int32
  private let waker: Int32
  private let sleeper: Int32
  private let ended = DispatchGroup()
  private static let maxHead = 8 << 10
  private static let maxVisitors = 16
  /// The time for the head of a request, in nanoseconds.
  private static let patience: UInt64 = 5_000_000_000

  /// Listens on a port, or on a free one.
  ///
  /// - Throws: Kind `connection` if the port is in use.
  init(port: UInt16?) throws(NetworkError) {
    do {
      (socket, self.port) = try Self.listen(on: port ?? 0)
    } catch {
      throw NetworkError(
        kind: .connection,
        reason: "127.0.0.1:\(port ?? 0) can't receive the redirect: \(SystemError.text(of: error)); end the other login or program, or "
          + "choose another port", underlying: error)
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      closeDescriptor(socket)
      throw NetworkError(kind: .connection, reason: "no pipe: \(SystemError.text(of: SystemError.last))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (sleeper, waker) = (ends[0], ends[1])
  }

  deinit {
    closeDescriptor(waker)
    closeDescriptor(sleeper)
  }

  /// Starts the thread, on which `respond` is called with each request, or with `nil` for anything else.
  func start(_ respond: @escaping @Sendable (LoopbackRequest?) -> Reply) throws(NetworkError) {
    ended.enter()
    do {
      try DetachedThread.start("OAuth login") { [self] in
        run(respond)
        ended.leave()
      }
    } catch {
      ended.leave()
      throw NetworkError(kind: .connection, reason: "no thread for the redirect: \(SystemError.text(of: error))")
    }
  }

  /// Closes the port and all connections. Call it once.
  func stop() {
    var byte: UInt8 = 0
    _ = write(waker, &byte, 1)
    ended.wait()
    closeDescriptor(socket)
  }

  private func run(_ respond: (LoopbackRequest?) -> Reply) {
    var visitors: [Visitor] = []
    defer { for visitor in visitors { closeDescriptor(visitor.socket) } }
    while true {
      var events = ([sleeper, socket] + visitors.map(\.socket)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let ready = poll(&events, nfds_t(events.count), visitors.isEmpty ? -1 : 1000)
      if events[0].revents != 0 || ready < 0 && errno != EINTR { return }
      let now = DispatchTime.now().uptimeNanoseconds
      var remaining: [Visitor] = []
      for (event, visitor) in zip(events.dropFirst(2), visitors) {
        var visitor = visitor
        let isOver = event.revents != 0 ? serve(&visitor, respond) : now > visitor.deadline
        if isOver { closeDescriptor(visitor.socket) } else { remaining.append(visitor) }
      }
      visitors = remaining
      guard events[1].revents != 0 else { continue }
      if let next = Self.accept(from: socket) {
        visitors.append(Visitor(socket: next, deadline: now + Self.patience))
        if visitors.count > Self.maxVisitors { closeDescriptor(visitors.removeFirst().socket) }
      } else {
        // The process has no free descriptor, which no event reports.
        _ = poll(nil, 0, 50)
      }
    }
  }

  /// Reads what has arrived. Returns whether the connection has ended.
  private func serve(_ visitor: inout Visitor, _ respond: (LoopbackRequest?) -> Reply) -> Bool {
    var bytes = [UInt8](repeating: 0, count: Self.maxHead - visitor.head.count)
    let count = recv(visitor.socket, &bytes, bytes.count, 0)
    guard count > 0 else { return count == 0 || errno != EAGAIN && errno != EINTR }
    visitor.head += bytes[..<count]
    let end = visitor.head.firstRange(of: Array("\r\n\r\n".utf8))
    guard end != nil || visitor.head.count == Self.maxHead else { return false }
    let reply = respond(end.flatMap { LoopbackRequest(head: visitor.head[..<$0.lowerBound]) })
    Self.send(Array(reply.text.utf8), to: visitor.socket)
    reply.then?()
    return true
  }
}

extension LoopbackListener.Reply {
  /// The response. A browser stores nothing of it, runs nothing in it, and sends the URL with the code to no other page
  /// (RFC 9700 §4.2.4).
  fileprivate var text: String {
    let body = status == 200 ? page : "This is not the redirect of the sign-in that waits here."
    let fields = [
      "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Refused")", "Content-Type: text/plain; charset=utf-8",
      "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
      "Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Connection: close",
    ]
    return fields.map { "\($0)\r\n" }.joined() + "\r\n" + body
  }
}

// MARK: Sockets

extension LoopbackListener {
  #if canImport(Darwin)
    private static let streamType = SOCK_STREAM
    private static let sendFlags: Int32 = 0
  #elseif canImport(Musl) || canImport(Android)
    private static let streamType = SOCK_STREAM
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #else
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif

  private static func listen(on port: UInt16) throws -> (Int32, UInt16) {
    let listener = PortableFoundation.socket(AF_INET, streamType, 0)
    guard listener >= 0 else { throw SystemError.last }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The connections of a former login on this port may still wait for their last packets.
    set(listener, SO_REUSEADDR)
    prepare(listener)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && PortableFoundation.listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else {
      let error = SystemError.last
      closeDescriptor(listener)
      throw error
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  private static func accept(from listener: Int32) -> Int32? {
    let socket = PortableFoundation.accept(listener, nil, nil)
    guard socket >= 0 else { return nil }
    prepare(socket)
    #if canImport(Darwin)
      set(socket, SO_NOSIGPIPE)
    #endif
    return socket
  }

  private static func prepare(_ socket: Int32) {
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }

  private static func set(_ socket: Int32, _ option: Int32) {
    var on: Int32 = 1
    _ = setsockopt(socket, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Sends all of `bytes` to a browser that reads, and ends the connection.
  private static func send(_ bytes: [UInt8], to socket: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { PortableFoundation.send(socket, $0.baseAddress, $0.count, sendFlags) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else {
        var event = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        guard errno == EAGAIN || errno == EINTR, poll(&event, 1, 1000) > 0 else { break }
      }
    }
    _ = shutdown(socket, Int32(SHUT_WR))
    // A close with unread bytes would reset the connection, and the browser could lose the page.
    var unread = [UInt8](repeating: 0, count: maxHead)
    _ = recv(socket, &unread, unread.count, 0)
  }
}
