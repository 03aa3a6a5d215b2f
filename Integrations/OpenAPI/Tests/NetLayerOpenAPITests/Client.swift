import Foundation
import HTTPTypes
import OpenAPIRuntime
import Synchronization
import XCTest

/// A client as Swift OpenAPI Generator would write it: it knows the operations, and its transport sends them.
struct Client: Sendable {
  var serverURL: URL
  var transport: any ClientTransport

  private func send(
    _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], _ body: HTTPBody? = nil
  ) async throws -> (HTTPResponse, HTTPBody) {
    let (response, content) = try await transport.send(
      HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields), body: body,
      baseURL: serverURL, operationID: path)
    return (response, try XCTUnwrap(content))
  }

  func addUser(_ name: String) async throws -> (status: Int, name: String) {
    var fields: HTTPFields = [.contentType: "text/plain", .accept: "application/json"]
    for value in ["1", "2"] { fields.append(HTTPField(name: try XCTUnwrap(.init("X-Tag")), value: value)) }
    let (response, body) = try await send(
      .post, "/users?kind=a%20b&kind=c%2Fd", fields, HTTPBody(Array(name.utf8)))
    let fieldsOfUser = try JSONDecoder().decode([String: String].self, from: Data(await body.text().utf8))
    return (response.status.code, fieldsOfUser["name"] ?? "")
  }

  func put(_ name: String) async throws -> (status: Int, name: String) {
    let body = HTTPBody(Repeated([ArraySlice(name.utf8)]), length: .known(3), iterationBehavior: .multiple)
    let (response, content) = try await send(.put, "/users", [.contentType: "text/plain"], body)
    return (response.status.code, try await content.text())
  }

  func export() async throws -> HTTPBody { try await send(.get, "/export").1 }

  func upload(_ body: HTTPBody) async throws -> String { try await send(.post, "/upload", [:], body).1.text() }
}

extension HTTPBody {
  func text() async throws -> String {
    var bytes = [UInt8]()
    for try await chunk in self { bytes += chunk }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Chunks of 64 KB without end; `step` is called before each.
struct Chunks: AsyncSequence, Sendable {
  let step: @Sendable () throws -> Void

  func makeAsyncIterator() -> Iterator { Iterator(step: step) }

  struct Iterator: AsyncIteratorProtocol {
    let step: @Sendable () throws -> Void
    func next() async throws -> ArraySlice<UInt8>? {
      try step()
      return ArraySlice(repeating: 7, count: 64 << 10)
    }
  }
}

/// The same chunks for each iterator.
struct Repeated: AsyncSequence, Sendable {
  let chunks: [ArraySlice<UInt8>]

  init(_ chunks: [ArraySlice<UInt8>]) { self.chunks = chunks }

  func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...]) }

  struct Iterator: AsyncIteratorProtocol {
    var rest: ArraySlice<ArraySlice<UInt8>>
    mutating func next() async -> ArraySlice<UInt8>? { rest.popFirst() }
  }
}

/// A count that any thread raises.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// Waits for a condition that other threads bring about; fails after 20 s.
func eventually(_ what: String, line: UInt = #line, _ condition: () -> Bool) async throws {
  for _ in 0..<10_000 where !condition() { try await Task.sleep(for: .milliseconds(2)) }
  XCTAssertTrue(condition(), "waited in vain until \(what)", line: line)
}

/// Waits until a count has not changed for 200 ms and returns it.
func standstill(_ count: () -> Int) async throws -> Int {
  var (last, unchanged) = (-1, 0)
  while unchanged < 40 {
    try await Task.sleep(for: .milliseconds(5))
    unchanged = count() == last ? unchanged + 1 : 0
    last = count()
  }
  return last
}
