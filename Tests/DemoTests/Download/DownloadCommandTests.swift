import LoopbackServer
import XCTest

final class DownloadCommandTests: XCTestCase {
  private var folder = FileManager.default.temporaryDirectory

  override func setUpWithError() throws {
    folder = folder.appending(path: "demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private var file: URL { folder.appending(path: "file.bin") }

  func test_interruptedDownload_resumesInTheNextRun() throws {
    let server = try PlayServer()
    let terminal = try Terminal()
    let first = try DemoProcess(["download", "\(server.url)/file?ms=15", "-o", file.path], terminal: terminal)
    let shown = terminal.text { $0.contains(#/[1-6]\.\d MB of/#) }
    first.interrupt()
    let rest = terminal.text()
    XCTAssertEqual(first.wait(), 130)
    XCTAssertTrue(rest.contains("run the same command to resume"), shown + rest)
    XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))

    let second = try DemoProcess.run("download", "--json", "\(server.url)/file?ms=0", "-o", file.path)
    XCTAssertEqual(second.code, 0, second.errors)
    let line = try object(second.lines.first)
    XCTAssertEqual(line["bytes"] as? Int, 8 << 20)
    XCTAssertGreaterThan(line["resumedAt"] as? Int ?? 0, 900_000)
    let whole = try DemoProcess.run("get", "--raw", "\(server.url)/file?ms=0")
    XCTAssertEqual(whole.code, 0, whole.errors)
    XCTAssertEqual(try Data(contentsOf: file), whole.output)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["file.bin"])
  }

  func test_terminal_showsProgressBarWithRateAndTimeLeft_withoutWrapping() throws {
    let server = try PlayServer()
    for columns in [UInt16(120), 60, 20] {
      let terminal = try Terminal(columns: columns)
      let run = try DemoProcess(["download", "\(server.url)/file?ms=2", "-o", file.path], terminal: terminal)
      let shown = terminal.text()
      XCTAssertEqual(run.wait(), 0, shown)
      let bars = shown.components(separatedBy: "\r\u{1B}[K").filter { $0.contains("%") && !$0.contains("\n") }
      XCTAssertFalse(bars.isEmpty, shown)
      XCTAssertTrue(bars.allSatisfy { $0.count < columns }, "\(columns): \(bars)")
      guard columns > 60 else { continue }
      let whole = #/[ 1][ \d]\d % █+░+  [\d.]+ [kM]B of 8\.4 MB  [\d.]+ MB/s  \d+:\d\d left/#
      XCTAssertTrue(bars.contains { $0.wholeMatch(of: whole) != nil }, "\(bars)")
    }
  }

  func test_pipe_receivesOnlyTheResult() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("download", "\(server.url)/file?ms=0", "-o", file.path)
    XCTAssertEqual(result.code, 0)
    XCTAssertEqual(result.errors, "")
    XCTAssertEqual(result.lines.count, 1)
    let line = try XCTUnwrap(result.lines.first)
    XCTAssertTrue(line.contains("8.4 MB in"), line)
    XCTAssertFalse(line.contains("\u{1B}"))
  }

  func test_outputDirectory_receivesFileNamedAfterTheURL() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run("download", "\(server.url)/file?ms=0", "-o", folder.path)
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["file"])
  }

  func test_urlWithoutASafeFileName_isRefused() throws {
    for last in ["..%2f..%2fpwn", "..", "%2e%2e", ".bashrc", "a%2fb", "a%0ab", "a%1b", "%ff"] {
      let result = try DemoProcess.run("download", "http://127.0.0.1:9/\(last)", "-o", folder.path)
      XCTAssertEqual(result.code, 2, last)
      XCTAssertTrue(result.errors.contains("\"\(last)\"") && result.errors.contains("-o FILE"), result.errors)
    }
    let other = try DemoProcess.run("download", "http://127.0.0.1:9/..%2fpwn", "-o", file.path)
    XCTAssertEqual(other.code, 1, "the name of the file is given")
  }

  func test_namesFromTheServer_areNotUsed() throws {
    let server = try TestServer { request in
      request.path == "/a"
        ? .redirect(to: "/..%2f..%2fb")
        : .text("ok").header("Content-Disposition", "attachment; filename=\"../../c\"")
    }
    let result = try DemoProcess.run("download", server.url("/a").absoluteString, "-o", folder.path)
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["a"])
  }

  func test_wrongDigest_failsAndLeavesNoFile() throws {
    let server = try TestServer { _ in .text("ok") }
    let digest = String(repeating: "0", count: 64)
    let result = try DemoProcess.run(
      "download", server.url("/file").absoluteString, "-o", file.path, "--sha256", digest)
    XCTAssertEqual(result.code, 1)
    XCTAssertTrue(result.errors.contains("SHA-256"), result.errors)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
  }
}
