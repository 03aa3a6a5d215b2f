#if os(Linux)
  import LoopbackServer
  import XCTest

  /// The error messages of the program when system resources are exhausted.
  final class ShortageTests: XCTestCase {
    func test_threadThatCannotBeCreatedIsAnError() throws {
      // The default stack size of new threads, in KB. It is larger than any address space.
      let limit = "ulimit -s 70000000000"
      guard try DemoProcess(["--help"], preparation: limit).finish().code == 0 else {
        throw XCTSkip("the limit of stacks can't be raised here, or the program does not start with it")
      }
      let server = try TestServer { _ in .text("ok") }
      let result = try DemoProcess(["get", server.url("/").absoluteString], preparation: limit).finish()
      XCTAssertEqual(result.code, 2)
      XCTAssert(result.errors.contains("the transport's thread can't be created"), result.errors)
    }

    func test_lostOutputIsAnErrorOfEveryCommand() throws {
      let server = try TestServer { request in
        request.path == "/events"
          ? .init(headers: [("Content-Type", "text/event-stream")], body: .bytes(Array("data: x\n\n".utf8)))
          : .text(#"{"code":200,"data":[{"id":1}]}"#)
      }
      let url = server.url("/").absoluteString
      let target = FileManager.default.temporaryDirectory.appendingPathComponent("lost-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: target) }
      let commands = [
        [], ["--json"], ["--help"], ["get", "--help"], ["get", url], ["get", url, url, "--raw"],
        ["events", url + "events"], ["download", url, "-o", target], ["pages", url], ["bench", url, "-n", "1"],
      ]
      for command in commands {
        for (way, cause) in [("exec >/dev/full", "No space left on device"), ("exec >&-", "Bad file descriptor")] {
          let result = try DemoProcess(command, preparation: way).finish()
          XCTAssertEqual(result.code, 1, "\(command) \(way): \(result.errors)")
          XCTAssert(result.errors.contains("the output can't be written: \(cause)"), "\(command): \(result.errors)")
        }
        let head = try DemoProcess(command)
        try head.closeOutput()
        let result = head.finish(readingOutput: false)
        XCTAssertFalse(result.errors.contains("output"), "\(command): \(result.errors)")
      }
    }
  }
#endif
