#if canImport(Glibc) && canImport(CLibcurl)
  import Foundation
  import JSONText
  import LoopbackServer
  import TestSupport
  import XCTest

  @testable import HTTPTransport
  @testable import NetLayer

  /// Bodies of some kilobytes that expand to the default limit: each call ends with its value or its error, and within
  /// the memory that `Tests/Reliability/README.md` states.
  final class HostileBodyTests: XCTestCase {
    /// The size of the decoded bodies: just below the default limit, and less in debug builds, which take ten times as
    /// long.
    #if DEBUG
      private static let size = 2 << 20
    #else
      private static let size = 32 << 20 - 64
    #endif

    private struct Model: Decodable { let id: Int }

    private struct Loose: Decodable {
      var id: Int?
      var name: String?
      var price: Double?
    }

    private enum Outcome: Equatable {
      case count(Int)
      case error(NetworkError.Kind)
    }

    private struct Shape {
      let name: String
      let text: String
      let outcome: Outcome
      /// The maximum increase of the process's memory, in multiples of the text.
      let factor: Int
      let read: @Sendable (Network) async throws -> Int

      /// - Parameter element: What the text consists of, between `start` and `end`.
      init<Value: Decodable & Sendable>(
        _ name: String, _ element: String, from start: String = "[", to end: String = "1]", _ outcome: Outcome? = nil,
        factor: Int, as type: Value.Type, count: @escaping @Sendable (Value) -> Int
      ) {
        let times = size / element.utf8.count
        self.name = name
        text = start + String(repeating: element, count: times) + end
        self.outcome = outcome ?? .count(times + 1)
        self.factor = factor
        read = { try await count($0.fetch(.get("/"), as: Value.self)) }
      }
    }

    private static let shapes: [Shape] = [
      Shape("empty arrays, as `JSON`", "[],", factor: 16, as: JSON.self) { $0.count ?? 0 },
      Shape("digits, as `[Int]`", "1,", factor: 16, as: [Int].self, count: \.count),
      Shape("digits, as `[Model]`", "1,", .error(.parse), factor: 10, as: [Model].self, count: \.count),
      Shape("empty objects, as an array of a model of 48 bytes", "{},", to: "{}]", factor: 60, as: [Loose].self) {
        $0.count
      },
      Shape(
        "one key again and again, as a dictionary", #""a":1,"#, from: "{", to: #""a":1}"#, .count(1), factor: 10,
        as: [String: Int].self,
        count: \.count),
      Shape(
        "a number as long as the text, as `Double`", "7", to: "]", .error(.parse), factor: 6, as: [Double].self,
        count: \.count),
      Shape("a string of escapes", "\\u0041", from: "[\"", to: "A\"]", factor: 6, as: [String].self) {
        $0.first?.utf8.count ?? 0
      },
      Shape("arrays in arrays", "[", .error(.parse), factor: 4, as: JSON.self) { $0.count ?? 0 },
      Shape("1 GB of spaces", " ", .error(.tooLarge), factor: 4, as: JSON.self) { $0.count ?? 0 },
    ]

    func test_bodiesOfSomeKilobytes_endWithinTheirMemory() async throws {
      for shape in Self.shapes {
        var body = try XCTUnwrap(Self.deflated(shape.text))
        if shape.outcome == .error(.tooLarge) {
          body = Array(repeatElement(body.dropLast(2), count: (1 << 30) / Self.size).joined())
        }
        let server = try TestServer { [body] _ in .bytes(body).header("Content-Encoding", "deflate") }
        let network = Network(Backend(baseURL: server.url("/"), transport: try CurlTransport()))
        let size = shape.outcome == .error(.tooLarge) ? 32 << 20 : Self.size
        let limit = shape.factor * size
        // Threads of earlier tests may still allocate, which can only increase the peak. One of three attempts must be
        // below the limit.
        var peak = Int.max
        for _ in 0..<3 where peak >= limit {
          // The memory of the previous body is returned to the system, and writing 5 resets the peak.
          _ = Self.trim?(0)
          try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
          let before = try Self.memory("VmRSS")
          let outcome: Outcome
          do { outcome = .count(try await shape.read(network)) } catch let error as NetworkError {
            outcome = .error(error.kind)
          }
          peak = try Self.memory("VmHWM") - before
          print("| \(shape.name) | \(body.count) | \(shape.text.utf8.count >> 20) MB | \(peak >> 20) MB | \(outcome) |")
          XCTAssertEqual(outcome, shape.outcome, shape.name)
        }
        // The sanitizers use memory of their own.
        guard residentBytes() != nil, dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") == nil else { continue }
        XCTAssertLessThan(peak, limit, shape.name)
      }
    }

    /// Returns a raw deflate stream of `text` (RFC 1951 §3.2.3).
    private static func deflated(_ text: String) throws -> [UInt8]? {
      guard let deflate = WebSocketDeflate(resets: true) else { throw XCTSkip("zlib is not available") }
      return Array(text.utf8).withUnsafeBytes { deflate.compress($0) }.map { $0 + [0, 0, 0xFF, 0xFF, 3, 0] }
    }

    /// glibc's `malloc_trim`, which its module does not declare.
    private static let trim = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim").map {
      unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
    }

    /// Returns a field of the process's status in bytes.
    private static func memory(_ name: String) throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix(name) })
      return try XCTUnwrap(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) << 10
    }
  }
#endif
