#if canImport(CLibcurl)
  import Foundation
  import NetLayer
  import XCTest

  /// The Autobahn suite, as a client of its fuzzing server, which `Tests/Interop/autobahn` starts.
  final class AutobahnTests: XCTestCase {
    private struct Verdict: Decodable {
      var behavior: String
    }

    /// Not implemented are the cases that need a smaller window for compression, which the client does not offer.
    private static let good = ["OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED"]
    private let options = WebSocketOptions(maxMessageSize: 32 << 20, compression: true)

    func test_everyCase() async throws {
      guard let server = ProcessInfo.processInfo.environment["AUTOBAHN"] else {
        throw XCTSkip("AUTOBAHN names no fuzzing server; run Tests/Interop/autobahn")
      }
      let network = Network()
      let count: Int = try await first(network, "\(server)/getCaseCount")
      XCTAssertGreaterThan(count, 0)
      for number in 1...max(count, 1) {
        do {
          try await network.withWebSocket(.get("\(server)/runCase?case=\(number)&agent=NetLayer"), options: options) {
            for try await message in $0.messages { try await $0.send(message) }
          }
        } catch {
          // Many cases break rules, so that the socket must fail. The server judges the way in which it does.
        }
        let verdict: Verdict = try await first(network, "\(server)/getCaseStatus?case=\(number)&agent=NetLayer")
        XCTAssert(Self.good.contains(verdict.behavior), "case \(number): \(verdict.behavior)")
      }
      try await network.withWebSocket(.get("\(server)/updateReports?agent=NetLayer")) {
        for try await _ in $0.messages {}
      }
    }

    /// The first message at `url`, as JSON.
    private func first<Model: Decodable & Sendable>(_ network: Network, _ url: String) async throws -> Model {
      let model = try await network.withWebSocket(.get(url)) { socket -> Model? in
        for try await model in socket.messages(as: Model.self) { return model }
        return nil
      }
      return try XCTUnwrap(model, "nothing came from \(url)")
    }
  }
#endif
