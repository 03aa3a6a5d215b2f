import Foundation

/// The socket functions on 127.0.0.1 that the benchmark uses.
enum Loopback {
  /// Returns a port that is currently free.
  static func freePort() -> UInt16? {
    let descriptor = makeSocket()
    defer { close(descriptor) }
    return bound(descriptor)
  }

  /// Returns whether a server listens on the port.
  static func accepts(_ port: UInt16) -> Bool {
    let descriptor = makeSocket()
    defer { close(descriptor) }
    var address = address(port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  static func makeSocket() -> Int32 {
    #if os(Linux)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  /// Binds to a port that the system chooses, and returns the port.
  static func bound(_ descriptor: Int32) -> UInt16? {
    var address = address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let good = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    return good ? UInt16(bigEndian: address.sin_port) : nil
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

/// A server that listens and never responds: the kernel accepts the connections, but the process does not.
final class SilentServer {
  let url: URL
  private let descriptor: Int32

  init?() {
    descriptor = Loopback.makeSocket()
    guard let port = Loopback.bound(descriptor), listen(descriptor, 4_096) == 0,
      let url = URL(string: "http://127.0.0.1:\(port)")
    else {
      close(descriptor)
      return nil
    }
    self.url = url
  }

  deinit { close(descriptor) }
}
