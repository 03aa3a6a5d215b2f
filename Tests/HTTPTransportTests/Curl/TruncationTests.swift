#if canImport(CLibcurl)
  import Foundation
  import LoopbackServer
  import Streams
  import TestSupport
  import XCTest

  import HTTPTransport
  import NetLayer

  /// Tests that a response that ends early never succeeds with a part of its body: each response is cut at every byte.
  ///
  /// The environment variable NETLAYER_OFFSETS is the number of rounds (1 by default, about 5,000 requests).
  final class TruncationTests: XCTestCase {
    private struct Served: Sendable {
      let head: String
      let wire: [UInt8]
      let content: Data

      init(_ fields: String, _ wire: [UInt8], _ content: Data, status: String = "200 OK") {
        head = "HTTP/1.1 \(status)\r\n\(fields)\r\n"
        self.wire = wire
        self.content = content
      }

      var bytes: [UInt8] { Array(head.utf8) + wire }
    }

    private static let text = Data("The whole body, of which a client must not accept a part.".utf8)

    /// Returns `bytes` in chunks of at most 20 bytes, with a trailer.
    private static func chunked(_ bytes: some Collection<UInt8>, trailer: String = "") -> [UInt8] {
      var result: [UInt8] = []
      var rest = Array(bytes)[...]
      while !rest.isEmpty {
        let chunk = rest.prefix(20)
        result += Array("\(String(chunk.count, radix: 16));a=b\r\n".utf8) + chunk + Array("\r\n".utf8)
        rest = rest.dropFirst(20)
      }
      return result + Array("0\r\n\(trailer)\r\n".utf8)
    }

    private static let served: [Served] = {
      let gzip = TestRoutes.gzip
      let decoded = Data(TestRoutes.message.utf8)
      return [
        Served("Content-Length: \(text.count)\r\n", Array(text), text),
        Served("Content-Length: \(text.count)\r\n", Array(text), text, status: "404 Not Found"),
        Served("Transfer-Encoding: chunked\r\n", chunked(text), text),
        Served("Transfer-Encoding: chunked\r\nTrailer: X\r\n", chunked(text, trailer: "X: y\r\n"), text),
        Served("Content-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n", gzip, decoded),
        Served("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(gzip), decoded),
        Served("Content-Encoding: gzip\r\nConnection: close\r\n", gzip, decoded),
      ]
    }()

    private enum Mode: Int, CaseIterable { case memory, stream, file }

    func test_aResponseThatEndsAtAnyByteFailsOrIsComplete() throws {
      let rounds = ProcessInfo.processInfo.environment["NETLAYER_OFFSETS"].flatMap { Int($0) } ?? 1
      let served = Self.served
      // The path is /response/offset/reset.
      let server = try RawServer { client, _ in
        guard let head = client.receiveHead() else { return }
        let numbers = head.split(separator: " ")[1].split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 3 else { return }
        client.send(served[numbers[0]].bytes.prefix(numbers[1]))
        if numbers[2] == 1 { client.resetAtEnd() }
      }
      let transport = try CurlTransport()
      defer { transport.shutdown() }
      let folder = FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let problems = Locked<[String]>([])
      var count = 0
      for _ in 0..<rounds {
        for (index, response) in served.enumerated() {
          let length = response.bytes.count
          // One expectation for all requests of a response, of which 64 are in flight.
          let ended = expectation(description: "all ended")
          ended.expectedFulfillmentCount = 2 * Mode.allCases.count * (length + 1)
          count += ended.expectedFulfillmentCount
          for offset in 0...length {
            for reset in 0...1 {
              for mode in Mode.allCases {
                var request = Request(
                  url: server.url.appending(path: "\(index)/\(offset)/\(reset)"),
                  timeouts: .init(connect: .seconds(30), idle: .seconds(30), attempt: .seconds(60)))
                request.headers["Accept"] = "*/*"
                let name = "\(index), byte \(offset) of \(length), \(reset == 1 ? "reset" : "end"), \(mode)"
                @Sendable func check(_ result: Result<Data, NetworkError>) {
                  switch result {
                  case .success(let content) where content != response.content:
                    problems.withLock { $0.append("\(name): \(content.count) bytes succeeded") }
                  case .failure(let error) where error.kind != .connection:
                    problems.withLock { $0.append("\(name): \(error)") }
                  case .failure(let error) where offset == length && reset == 0:
                    problems.withLock { $0.append("\(name): \(error)") }
                  default: break
                  }
                  ended.fulfill()
                }
                switch mode {
                case .memory: _ = transport.send(request) { check($0.map(\.body)) }
                case .stream:
                  let body = Locked(Data())
                  _ = transport.stream(
                    request, progress: nil,
                    receiver: StreamReceiver(
                      head: { _ in },
                      chunk: { chunk in
                        body.withLock { $0 += chunk }
                        return .continue
                      }, completion: { check($0.map { _ in body.withLock { $0 } }) }))
                case .file:
                  let file = folder.appending(path: "\(index)-\(offset)-\(reset)")
                  _ = transport.download(request, to: file, progress: nil) { result in
                    // An unsuccessful status is not written to the file.
                    check(
                      result.map { response in
                        response.isSuccess ? (try? Data(contentsOf: file)) ?? Data() : response.body
                      })
                    try? FileManager.default.removeItem(at: file)
                  }
                }
              }
            }
          }
          wait(for: [ended], timeout: 120)
        }
      }
      let found = problems.withLock { $0 }
      for problem in found.prefix(10) { XCTFail(problem) }
      XCTAssertEqual(found.count, 0, "of \(count)")
    }
  }
#endif
