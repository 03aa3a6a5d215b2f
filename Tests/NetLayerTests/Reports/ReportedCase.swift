import Foundation
import LoopbackServer
import NetLayerTesting
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// An input that users of other HTTP clients reported, with the right result here. `run` returns the result, from a real
/// server on 127.0.0.1 or in process.
struct ReportedCase {
  let report: String
  let input: String
  let right: String
  let run: @Sendable () async throws -> String

  init(_ report: String, _ input: String, _ right: String, _ run: @escaping @Sendable () async throws -> String) {
    (self.report, self.input, self.right, self.run) = (report, input, right, run)
  }
}

extension [ReportedCase] {
  /// Runs each case and compares its result.
  func check(file: StaticString = #filePath, line: UInt = #line) async {
    for row in self {
      do {
        let result = try await row.run()
        XCTAssertEqual(result, row.right, "\(row.report): \(row.input)", file: file, line: line)
      } catch {
        XCTFail("\(row.report): \(row.input): \(error)", file: file, line: line)
      }
    }
  }
}

/// A server that responds with the bytes that a closure returns, and the requests that it has received.
struct ReportedServer {
  let server: TestServer
  let network: Network

  /// - Parameter reply: A closure that receives a request and its number from 1.
  init(
    jar: CookieJar? = nil, _ change: (inout Backend) -> Void = { _ in },
    _ reply: @escaping @Sendable (TestServer.Request, Int) -> TestServer.Response
  ) throws {
    let count = Counter()
    server = try TestServer { reply($0, count.next()) }
    var backend = Backend(
      baseURL: server.url, timeouts: .init(connect: .seconds(10), idle: .seconds(10), attempt: .seconds(20)),
      options: .init(cookies: jar))
    change(&backend)
    network = Network(backend)
  }

  /// The status and the body, or the kind and the code of the error.
  func result(_ call: Call<Response> = .get("/")) async -> String {
    do {
      let response = try await network.response(call)
      return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
    } catch {
      return "\(error.kind) \(error.code)"
    }
  }

  /// The methods and targets of the received requests.
  var requests: [String] { server.requests.map { "\($0.method) \($0.target)" } }

  /// The fields of the last request with these names, in order.
  func fields(_ names: String...) -> String {
    names.flatMap { name in server.requests.last?.headerValues(name).map { "\(name): \($0)" } ?? [] }.joined(
      separator: ", ")
  }
}

extension TestServer.Response {
  /// A response with exactly these lines as its head, followed by `body`.
  static func raw(_ head: String..., body: String = "", ending: Ending = .keepAlive) -> Self {
    raw(head, Array(body.utf8), ending)
  }

  static func raw(_ head: [String], _ body: [UInt8], _ ending: Ending = .keepAlive) -> Self {
    let text = head.map { $0 + "\r\n" }.joined() + "\r\n"
    return Self(body: .raw([.init(Array(text.utf8) + body)]), ending: ending)
  }
}
