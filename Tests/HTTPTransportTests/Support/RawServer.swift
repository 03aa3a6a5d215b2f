import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A listener on 127.0.0.1 or on a Unix domain socket. A closure serves each connection on a separate thread. It is for
/// tests of socket behavior that no HTTP server has.
final class RawServer: Sendable {
  let port: UInt16
  private let listener: Int32

  /// Creates a listener. `serve` receives each connection and its number, starting at 1. The connection is closed after
  /// `serve` returns.
  convenience init(_ serve: @escaping @Sendable (RawClient, Int) -> Void) throws {
    let (listener, port) = try Self.listen()
    self.init(listener, port, serve)
  }

  /// Creates a listener on a Unix domain socket at `path`. The test removes the file.
  convenience init(path: String, _ serve: @escaping @Sendable (RawClient, Int) -> Void) throws {
    self.init(try Self.listen(path), 0, serve)
  }

  private init(_ listener: Int32, _ port: UInt16, _ serve: @escaping @Sendable (RawClient, Int) -> Void) {
    (self.listener, self.port) = (listener, port)
    let thread = Thread { [listener] in
      for number in 1... {
        let descriptor = accept(listener, nil, nil)
        // Closed here and not in `deinit`: another listener could receive the same descriptor in the meantime.
        guard descriptor >= 0 else { return _ = close(listener) }
        Thread { serve(RawClient(accepted: descriptor), number) }.start()
      }
    }
    thread.start()
  }

  /// Ends the thread that accepts connections.
  deinit { _ = shutdown(listener, Int32(SHUT_RDWR)) }

  var url: URL { URL(string: "http://127.0.0.1:\(port)/") ?? URL(filePath: "/") }

  private static func listen() throws -> (Int32, UInt16) {
    #if canImport(Glibc)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // Connections inherit these options. They make backpressure take effect early: with small segments, the client's
    // send buffer is also small.
    var (size, segment): (Int32, Int32) = (1 << 12, 536)
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(listener, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard result else { throw POSIXError(.EADDRINUSE) }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  private static func listen(_ path: String) throws -> Int32 {
    #if canImport(Glibc)
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(103)) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(listener, 128) == 0 else { throw POSIXError(.EADDRINUSE) }
    return listener
  }

  private static func listen(_ descriptor: Int32, _ backlog: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.listen(descriptor, backlog)
    #elseif canImport(Musl)
      Musl.listen(descriptor, backlog)
    #else
      Darwin.listen(descriptor, backlog)
    #endif
  }
}
