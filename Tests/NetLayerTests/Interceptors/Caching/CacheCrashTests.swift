import Foundation
import Races
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

/// Processes that write entries are killed at random moments. Afterwards, each entry is complete or missing.
///
/// `Tests/Reliability/cache` repeats this a thousand times.
final class CacheCrashTests: XCTestCase {
  private static let keys = 40
  private static let mark: UInt8 = 1
  private static let environment = ProcessInfo.processInfo.environment

  func test_killedProcess_leavesOnlyCompleteEntries() throws {
    guard Self.environment["NETLAYER_CACHE_CHILD"] == nil else { throw XCTSkip("this is the process that is killed") }
    let kills = Self.environment["NETLAYER_CACHE_KILLS"].flatMap(Int.init) ?? 6
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "crash-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    var (found, leftovers) = (0, 0)
    var random = randomNumbers()
    for _ in 0..<kills {
      try killAChild(writingTo: directory, &random)
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      leftovers += names.filter { $0.hasPrefix("writing-") }.count
      found += try check(directory)
    }
    print("\(kills) kills: \(found) entries read, all whole; \(leftovers) half-written files swept")
    XCTAssertGreaterThan(found, kills, "the children have written nothing")
  }

  /// Writes entries until the process is killed. Runs only in a child process.
  func test_child() throws {
    guard let path = Self.environment["NETLAYER_CACHE_CHILD"] else { return }
    let cache = ResponseCache(storingIn: URL(filePath: path), maxMemorySize: 1 << 20)
    _ = cache.settle()
    var random = randomNumbers()
    for round in 0..<1_000_000 {
      // The parent counts the rounds, because the elapsed time is not reliable on a busy machine.
      try FileHandle.standardOutput.write(contentsOf: Data([Self.mark]))
      let key = Int.random(in: 0..<Self.keys, using: &random)
      if round % 7 == 6 {
        cache.remove("\(key)")
      } else {
        cache.store(Self.entry(key, &random), for: "\(key)", headers: [:])
      }
      if round % 4 == 0 { _ = cache.settle() }
    }
  }

  /// Returns an entry whose body is computed from its first bytes: the key and a random number.
  private static func entry(_ key: Int, _ random: inout SplitMix64) -> CacheEntry {
    let seed = UInt32.random(in: 0..<UInt32.max, using: &random)
    return CacheEntry(
      status: 200, headers: ["X-Key": "\(key)"], body: body(key, seed), requestedAt: 0, receivedAt: 0)
  }

  private static func body(_ key: Int, _ seed: UInt32) -> Data {
    var body = Data("\(key) \(seed) ".utf8)
    var state = UInt64(seed) &* 2 &+ 1
    for _ in 0..<(Int(seed % 5000)) {
      state = state &* 6_364_136_223_846_793_005 &+ UInt64(key)
      body.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    return body
  }

  private func killAChild(writingTo directory: URL, _ random: inout SplitMix64) throws {
    let child = Process()
    child.executableURL = URL(filePath: CommandLine.arguments[0])
    child.arguments = ["NetLayerTests.CacheCrashTests/test_child"]
    child.environment = Self.environment.merging(
      ["NETLAYER_CACHE_CHILD": directory.path, "NETLAYER_SEED": "\(random.next())"]
    ) { $1 }
    let output = Pipe()
    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    defer { try? output.fileHandleForReading.close() }
    child.standardOutput = output
    child.standardError = FileHandle.nullDevice
    try child.run()
    var seen = Data()
    let rounds = Int.random(in: 1...50, using: &random)
    while seen.count(where: { $0 == Self.mark }) < rounds {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { return XCTFail("the child ended by itself: \(String(decoding: seen, as: UTF8.self))") }
      seen += more
    }
    // A random moment within a round.
    usleep(UInt32.random(in: 0..<2000, using: &random))
    kill(child.processIdentifier, SIGKILL)
    child.waitUntilExit()
    XCTAssertEqual(child.terminationReason, .uncaughtSignal)
  }

  /// Opens the directory again, checks that all entries are complete, and returns their number.
  private func check(_ directory: URL) throws -> Int {
    let problems = Problems()
    let cache = ResponseCache(storingIn: directory) { problems.note($0) }
    let count = cache.settle().count
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    XCTAssertEqual(names.filter { $0.utf8.count != 64 }, ["netlayer-cache"], "the sweep leaves nothing over")
    XCTAssertEqual(problems.reports, [])
    var found = 0
    for key in 0..<Self.keys {
      guard case .later(let search) = cache.find("\(key)", for: [:]) else { continue }
      guard let entry = record(search).elements.first.flatMap({ $0 })?.entry else { continue }
      found += 1
      XCTAssertEqual(entry.headers["X-Key"], "\(key)")
      let words = entry.body.split(separator: UInt8(ascii: " "), maxSplits: 2).prefix(2)
        .map { String(decoding: $0, as: UTF8.self) }
      let seed = try XCTUnwrap(words.last.flatMap(UInt32.init))
      XCTAssertEqual(entry.body, Self.body(key, seed), "byte for byte what was stored")
    }
    XCTAssertEqual(found, count, "no entry was dropped for being broken")
    return found
  }
}
