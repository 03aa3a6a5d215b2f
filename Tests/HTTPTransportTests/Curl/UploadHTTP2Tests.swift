#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import Streams
  import TestSupport
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests of concurrent uploads over HTTP/2 to a server that retires its connections.
  ///
  /// libcurl 8.21 and 8.23 let uploads wait until the time limit for connections, although the server is ready to receive.
  final class UploadHTTP2Tests: XCTestCase {
    func test_noUploadStandsStill() throws {
      guard CurlTransport.capabilities?.http2 == true else { throw XCTSkip("requires libcurl 8.14 with HTTP/2") }
      let server = try TestServer { .text("\($0.body.count)") }
      let nginx = try NginxServer(
        server: """
          keepalive_requests 50; client_max_body_size 1m; access_log off;
          location / { proxy_pass \(server.url("/").absoluteString); proxy_request_buffering off; proxy_http_version 1.1; }
          """, files: [:], isSecure: true)
      defer { nginx.stop() }
      let certificate = nginx.folder.appending(path: "certificate.pem")
      let transport = try CurlTransport(.init(tls: .init(trust: .pem(file: certificate))))
      defer { transport.shutdown() }
      var upload = Request(
        method: .put, url: try XCTUnwrap(nginx.secureURL), body: .data(Data(count: 150_000)),
        timeouts: .init(connect: .seconds(60), idle: .seconds(20), attempt: .seconds(120)))
      upload.options.httpVersion = .http2
      let request = upload
      // Each response starts the next upload, so that 64 are in flight.
      let left = Locked(3000 - 64)
      let failures = Locked<[String]>([])
      let ended = expectation(description: "all uploads have ended")
      ended.expectedFulfillmentCount = 3000
      @Sendable func send() {
        _ = transport.send(request) { result in
          switch result {
          case .success(let response) where response.body == Data("150000".utf8): break
          case .success(let response): failures.withLock { $0.append("\(response)") }
          case .failure(let error): failures.withLock { $0.append("\(error)") }
          }
          if left.withLock({ left in
            left -= 1
            return left >= 0
          }) {
            send()
          }
          ended.fulfill()
        }
      }
      for _ in 0..<64 { send() }
      wait(for: [ended], timeout: 200)
      XCTAssertEqual(failures.withLock { $0 }, [])
    }
  }
#endif
