#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import TestSupport
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  /// TCP keepalive, by which the system notices that the peer of a silent connection is gone. Tests/Interop/silence cuts a link.
  final class KeepAliveTests: XCTestCase {
    /// Returns the options of the sockets of this process that are connected to `port`.
    private func options(_ port: UInt16) -> [[Int32]] {
      openDescriptors.compactMap { descriptor in
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
        guard isConnected, address.sin_family == sa_family_t(AF_INET), UInt16(bigEndian: address.sin_port) == port
        else { return nil }
        let names: [(Int32, Int32)] = [
          (SOL_SOCKET, SO_KEEPALIVE), (Int32(IPPROTO_TCP), TCP_KEEPIDLE), (Int32(IPPROTO_TCP), TCP_KEEPINTVL),
          (Int32(IPPROTO_TCP), TCP_KEEPCNT),
        ]
        return names.map { level, name in
          var (value, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
          getsockopt(descriptor, level, name, &value, &size)
          return value
        }
      }
    }

    func test_everyConnectionProbesASilentPeer() throws {
      let server = try TestServer { $0.path == "/socket" ? .socket(.echo) : .text("ok") }
      defer { server.stop() }
      let transport = try CurlTransport()
      XCTAssertEqual(try outcome(Request(url: server.url("/")), on: transport).get().status, 200)
      XCTAssertEqual(options(server.port), [[1, 60, 10, 3]])
      let opened = expectation(description: "the WebSocket is open")
      let receiver = WebSocketReceiver(
        response: { _ in opened.fulfill() }, message: { _ in .continue }, closed: { _ in })
      let socket = transport.connect(
        Request(url: server.url("/socket")), options: WebSocketOptions(), receiver: receiver)
      wait(for: [opened], timeout: 20)
      XCTAssertEqual(options(server.port), [[1, 60, 10, 3], [1, 60, 10, 3]])
      withExtendedLifetime(socket) {}
    }

    func test_throughAProxy_onlyTheConnectionToTheProxyIsProbed() throws {
      let server = try TestServer { _ in .socket(.echo) }
      defer { server.stop() }
      let proxy = try LoopbackProxy()
      let transport = try CurlTransport(.init(proxy: .url(try proxy.url())))
      let opened = expectation(description: "the WebSocket is open")
      let receiver = WebSocketReceiver(
        response: { _ in opened.fulfill() }, message: { _ in .continue }, closed: { _ in })
      let socket = transport.connect(
        Request(url: server.url("/socket")), options: WebSocketOptions(), receiver: receiver)
      wait(for: [opened], timeout: 20)
      XCTAssertEqual(options(try XCTUnwrap(proxy.url().port.flatMap(UInt16.init))), [[1, 60, 10, 3]])
      // The tunnel behind the proxy, which this process has opened as the proxy.
      XCTAssertEqual(options(server.port).map(\.first), [0])
      withExtendedLifetime(socket) {}
    }
  }
#endif
