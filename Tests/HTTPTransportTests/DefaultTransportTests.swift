import Foundation
import NetLayerTesting
import Streams
import XCTest

@testable import HTTPTransport

final class DefaultTransportTests: XCTestCase {
  #if HAS_URLSESSION
    func test_theFallbackToURLSessionIsLoggedOnceWithReasonAndRemedy() {
      let lines = Locked<[String]>([])
      let notice = DefaultTransport.Notice { line in lines.withLock { $0.append(line) } }
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        let transport = DefaultTransport.make(notice: notice) {
          throw NetworkError(kind: .connection, reason: "CurlTransport can't be used: libcurl.so.4 was not found")
        }
        XCTAssert(transport is URLSessionTransport)
      }
      let all = lines.withLock { $0 }
      XCTAssertEqual(all.count, 1)
      for words in ["libcurl.so.4 was not found", "URLSession", "pins", "proxy", "Install libcurl 7.68"] {
        XCTAssert(all.first?.contains(words) == true, "\(all)")
      }
      XCTAssertEqual(all.first?.contains("\n"), false)
    }

  #else
    func test_withoutURLSessionEachRequestFailsWithReasonAndRemedy() async throws {
      let lines = Locked<[String]>([])
      let notice = DefaultTransport.Notice { line in lines.withLock { $0.append(line) } }
      let transport = DefaultTransport.make(notice: notice) {
        throw NetworkError(kind: .connection, reason: "CurlTransport can't be used: libcurl.so.4 was not found")
      }
      let url = try XCTUnwrap(URL(string: "http://127.0.0.1/"))
      let result = await withCheckedContinuation { done in
        _ = transport.send(Request(url: url)) { done.resume(returning: $0) }
      }
      guard case .failure(let error) = result else { return XCTFail("\(result)") }
      XCTAssertEqual(error.kind, .connection)
      XCTAssertEqual(error.request?.url, url)
      for words in ["libcurl.so.4 was not found", "every request fails", "without URLSession"] {
        XCTAssert(error.reason.contains(words), error.reason)
      }
      XCTAssertEqual(lines.withLock { $0 }, ["NetLayer: \(error.reason)"])
    }
  #endif

  func test_thePreferredTransportIsUsedWithoutANotice() {
    let notice = DefaultTransport.Notice { XCTFail($0) }
    XCTAssert(DefaultTransport.make(notice: notice) { StubTransport([]) } is StubTransport)
  }
}
