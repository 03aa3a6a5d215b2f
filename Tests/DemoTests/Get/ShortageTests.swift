#if os(Linux)
  import LoopbackServer
  import XCTest

  /// What the program says where the system has too little of something.
  final class ShortageTests: XCTestCase {
    func testAThreadThatCannotBeMadeIsAnErrorAndNoHang() throws {
      // No address space holds a stack of that size, in KB, which new threads get by default.
      let limit = "ulimit -s 70000000000"
      guard try DemoProcess(["--help"], preparation: limit).finish().code == 0 else {
        throw XCTSkip("the limit of stacks can't be raised here, or the program does not start with it")
      }
      let server = try LoopbackServer { _ in .text("ok") }
      let result = try DemoProcess(["get", server.url("/").absoluteString], preparation: limit).finish()
      XCTAssertEqual(result.code, 2)
      XCTAssert(result.errors.contains("the transport's thread can't be made"), result.errors)
    }
  }
#endif
