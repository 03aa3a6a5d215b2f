import PortableFoundation

/// The socket calls of the server for Glibc, Musl, Android and Darwin.
struct Socket: Sendable {
  let descriptor: Int32

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

  /// Returns a nonblocking listener on 127.0.0.1 and a port that the system chooses.
  static func listenOnLoopback() throws -> Socket {
    let descriptor = socket(AF_INET, streamType, 0)
    guard descriptor >= 0 else { throw TestServer.Failure("socket", errno: errno) }
    let listener = Socket(descriptor: descriptor)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard bound == 0, listen(descriptor, 4096) == 0 else {
      let code = errno
      listener.close()
      throw TestServer.Failure("bind to 127.0.0.1 and listen", errno: code)
    }
    listener.prepare()
    return listener
  }

  func localPort() throws -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard result == 0 else { throw TestServer.Failure("getsockname", errno: errno) }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Sets the socket to nonblocking, close-on-exec, without Nagle's algorithm and without SIGPIPE.
  func prepare() {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    set(Int32(IPPROTO_TCP), TCP_NODELAY)
    #if canImport(Darwin)
      set(SOL_SOCKET, SO_NOSIGPIPE)
    #endif
  }

  private func set(_ level: Int32, _ option: Int32) {
    var on: Int32 = 1
    _ = setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  func acceptNext() -> Socket? {
    let accepted = accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    let socket = Socket(descriptor: accepted)
    socket.prepare()
    return socket
  }

  func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int { recv(descriptor, buffer.baseAddress, buffer.count, 0) }

  func transmit(_ buffer: UnsafeRawBufferPointer) -> Int {
    send(descriptor, buffer.baseAddress, buffer.count, Self.sendFlags)
  }

  /// Configures the socket so that `close` resets the connection (RFC 9293 §3.10.7.4) instead of closing it gracefully.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  func close() { closeDescriptor(descriptor) }
}
