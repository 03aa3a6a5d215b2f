#if canImport(CLibcurl)
  import TestSupport
  import Foundation
  @_spi(Faults) import LoopbackServer
  import Streams
  import XCTest

  import HTTPTransport
  import NetLayer

  /// A small version of `NetworkSoak`: faults and cancellations among many concurrent requests.
  final class SoakTests: XCTestCase {
    func test_everyRequestAmongFaultsAndCancellationsEndsOnceWithTheExpectedOutcome() throws {
      let faults: [TestServer.Fault] = [
        .closeBeforeHead, .resetBeforeHead, .headCutShort, .lengthTooLong, .twoLengths, .brokenChunkSize,
        .chunkCutShort,
        .resetAtRandomByte, .corruptGzip, .redirectToFile,
      ]
      let server = try TestServer { request in
        request.path.split(separator: "/").last.flatMap { TestServer.Fault(rawValue: String($0)) }?.response()
          ?? .text("fine")
      }
      let transport = try CurlTransport(.init(maxConnectionsPerHost: 32))
      let before = Resources.now.descriptors
      for _ in 0..<4 {
        let pendingCalls = (0..<400).map { _ in PendingCall(self) }
        for (index, pending) in pendingCalls.enumerated() {
          let path = index % 20 == 0 ? "/\(faults[index / 20 % faults.count].rawValue)" : "/"
          let sent = pending.send(Request(url: server.url(path)), on: transport)
          if index % 10 == 3 { sent.dispose() }
        }
        for (index, pending) in pendingCalls.enumerated() {
          switch try pending.outcome() {
          case .success(let response):
            XCTAssertNotEqual(index % 20, 0)
            XCTAssertEqual(response.body, Data("fine".utf8))
          case .failure(let error):
            XCTAssert(index % 20 == 0 || index % 10 == 3, "\(error)")
          }
        }
      }
      // This process holds both ends of every connection that may be kept.
      XCTAssertLessThanOrEqual(Resources.now.descriptors, before + 64)
    }
  }
#endif
