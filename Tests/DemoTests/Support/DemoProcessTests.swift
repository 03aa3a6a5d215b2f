import TestSupport
import XCTest

final class DemoProcessTests: XCTestCase {
  /// Tests of other modules run in the same process, and need descriptors, too.
  func test_aProcess_leavesNoDescriptors() throws {
    _ = try DemoProcess.run("--help")
    let before = openDescriptors.count
    for _ in 0..<4 { _ = try DemoProcess.run("--help") }
    do {
      let interrupted = try DemoProcess(["serve"])
      _ = interrupted.line()
      interrupted.interrupt()
      _ = interrupted.wait()
    }
    XCTAssertTrue(holds(within: 20) { openDescriptors.count <= before }, "\(openDescriptors.count) for \(before)")
  }
}
