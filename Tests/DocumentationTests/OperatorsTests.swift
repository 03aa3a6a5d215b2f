import Foundation
import XCTest

/// The tests of an operator are in the file that CONTRIBUTING.md specifies.
final class OperatorsTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

  /// The operators whose tests are in the file of a related operator.
  private static let families = [
    "CatchError": "catchErrorJustReturn", "Completable": "andThen asCompletable",
    "Creation": "create deferred empty error from just never of range repeatElement using", "Driver": "asDriver",
    "FlatMapLatest": "switchLatest",
    "Sharing": "multicast publish refCount replay share", "Single": "asSingle",
  ].mapValues { $0.components(separatedBy: " ") }

  /// The operators without a row in the matrix, because they emit no elements or delay them.
  private static let withoutRow = Set(
    """
    andThen asCompletable asDriver asSingle bind catchErrorJustReturn create decode deferred delaySubscription elementAt
    empty error first from ignoreElements interval just never of range reduce repeatElement subscribe
    subscribeOnMain takeLast timer toArray using
    """.components(separatedBy: .whitespacesAndNewlines))

  func test_everyOperator_hasTestsAndARowInTheMatrix() throws {
    let tests = try files(below: "Tests/StreamsTests")
    let matrix = try XCTUnwrap(tests["OperatorMatrixTests"])
    for name in try files(below: "Sources/Streams/Operators").keys.sorted() {
      let family = Self.families.first { $0.value.contains(name) }?.key
      let file = (family ?? name.prefix(1).uppercased() + name.dropFirst()) + "Tests"
      XCTAssertTrue(tests[file].map { calls(name, $0) } ?? false, "\(file) has no test of \(name)")
      XCTAssertTrue(Self.withoutRow.contains(name) || calls(name, matrix), "the matrix has no row of \(name)")
    }
  }

  private func calls(_ name: String, _ code: String) -> Bool {
    ["(", " {", "`(", "<"].contains { code.contains(".\(name)\($0)") || code.contains(".`\(name)\($0)") }
  }

  private func files(below path: String) throws -> [String: String] {
    let all = FileManager.default.enumerator(at: root.appending(path: path), includingPropertiesForKeys: nil)
    let swift = (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    return try Dictionary(
      uniqueKeysWithValues: swift.map {
        ($0.deletingPathExtension().lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
      })
  }
}
