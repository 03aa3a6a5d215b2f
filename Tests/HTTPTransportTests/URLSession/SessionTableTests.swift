#if HAS_URLSESSION
  import Foundation
  import LoopbackServer
  import NetLayer
  import TestSupport
  import XCTest

  @testable import HTTPTransport

  /// The tables of a session, which retain its transfers.
  final class SessionTableTests: XCTestCase {
    func test_aRequestThatEndsWhileItsBodyIsWritten_isReleased() throws {
      let transport = URLSessionTransport()
      let (asked, ends) = (Box(false), DispatchSemaphore(value: 0))
      defer { ends.signal() }
      let body = Request.BodyStream(count: 10) {
        {
          asked.value = true
          ends.wait()
          return nil
        }
      }
      let request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://127.0.0.1:9/")), body: .stream(body))
      let kind = Box<NetworkError.Kind?>(nil)
      weak var sent: SessionTransfer?
      func send() throws {
        let transfer = try XCTUnwrap(
          transport.send(request, progress: nil) { result in
            if case .failure(let error) = result { kind.value = error.kind }
          } as? SessionTransfer)
        sent = transfer
        until { asked.value }
        transfer.dispose()
      }
      try send()
      until { kind.value == .cancelled && sent == nil }
      withExtendedLifetime(transport) {}
    }

    func test_aRequestWithItsResponse_isReleased() throws {
      let transport = URLSessionTransport()
      let server = try TestServer { _ in .json("[1]") }
      let status = Box(0)
      weak var sent: SessionTransfer?
      func send() {
        let transfer =
          transport.send(Request(url: server.url("/")), progress: nil) { result in
            status.value = (try? result.get().status) ?? -1
          } as? SessionTransfer
        // The weak reference alone may be nil by now.
        XCTAssertNotNil(transfer)
        sent = transfer
      }
      send()
      until { status.value == 200 && sent == nil }
      withExtendedLifetime((transport, server)) {}
    }

    func test_aStreamThatItsReceiverEndsAtTheHead_isReleased() throws {
      let transport = URLSessionTransport()
      let server = try TestServer { _ in .json("[1]") }
      let control = Box<(any StreamControl)?>(nil)
      let kind = Box<NetworkError.Kind?>(nil)
      weak var sent: SessionTransfer?
      func start() throws {
        let started = transport.stream(
          Request(url: server.url("/")), progress: nil,
          receiver: StreamReceiver(
            head: { _ in
              while control.value == nil {}
              control.value?.dispose()
            }, chunk: { _ in .continue },
            completion: { result in
              if case .failure(let error) = result { kind.value = error.kind }
              control.value = nil
            }))
        sent = started as? SessionTransfer
        XCTAssertNotNil(sent)
        control.value = started
      }
      try start()
      until { kind.value == .cancelled && sent == nil }
      withExtendedLifetime((transport, server)) {}
    }
  }
#endif
