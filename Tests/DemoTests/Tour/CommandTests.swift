import XCTest

final class CommandTests: XCTestCase {
  private static let commands = ["get", "pages", "download", "events", "bench"]

  func test_everyCommandHasHelpWithExamples() throws {
    for command in Self.commands + ["serve"] {
      let result = try DemoProcess.run(command, "--help")
      XCTAssertEqual(result.code, 0)
      XCTAssertEqual(result.lines.first?.hasPrefix("usage: Demo \(command)"), true)
      XCTAssertTrue(command == "serve" || result.lines.contains { $0.hasPrefix("Examples") }, command)
      XCTAssertLessThanOrEqual(result.lines.map(\.count).max() ?? 0, 120, command)
    }
  }

  func test_curlPrintsTheCommandAndSendsNothing() throws {
    for command in Self.commands {
      // Nothing listens there.
      let result = try DemoProcess.run(command, "--curl", "-H", "Authorization: Bearer 1", "http://127.0.0.1:9/x")
      XCTAssertEqual(result.code, 0, "\(command): \(result.errors)")
      XCTAssertEqual(result.lines.count, 1)
      XCTAssertTrue(result.lines[0].hasPrefix("curl --globoff"), result.lines[0])
      XCTAssertTrue(result.lines[0].contains("'http://127.0.0.1:9/x' --header 'Authorization: Bearer 1'"))
    }
  }

  func test_verboseLogsOnStandardErrorWithoutSecrets() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run(
      "get", "--verbose", "-H", "Authorization: Bearer of-secrets", "\(server.url)/cart?token=hidden")
    XCTAssertEqual(result.code, 0)
    XCTAssertEqual(result.lines.count, 1)
    XCTAssertTrue(result.errors.contains("--> GET \(server.url)/cart?token=***"), result.errors)
    XCTAssertTrue(result.errors.contains("<-- 200"), result.errors)
    XCTAssertFalse(result.errors.contains("of-secrets"), result.errors)
  }

  func test_coloursAreForTerminalsThatWantThem() throws {
    func shown(_ environment: [String: String]) throws -> String {
      let terminal = try Terminal()
      let run = try DemoProcess(["fetch"], terminal: terminal, environment: environment)
      let text = terminal.text()
      XCTAssertEqual(run.wait(), 2)
      XCTAssertTrue(text.contains("unknown command"), text)
      return text
    }
    XCTAssertTrue(try shown([:]).contains("\u{1B}[31m"))
    XCTAssertFalse(try shown(["NO_COLOR": "1"]).contains("\u{1B}"))
    XCTAssertFalse(try shown(["TERM": "dumb"]).contains("\u{1B}"))
    XCTAssertFalse(try DemoProcess.run("fetch").errors.contains("\u{1B}"))
  }

  func test_theTourAsJSONNamesItsStops() throws {
    let result = try DemoProcess.run("--json")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try object(result.lines.first)["stop"] as? String, "model")
    XCTAssertEqual(try object(result.lines.last)["stop"] as? String, "done")
  }

  func test_aMissingURLAndASecondOneAreNamed() throws {
    for command in ["pages", "download", "events", "bench"] {
      let none = try DemoProcess.run(command)
      XCTAssertEqual(none.code, 2)
      XCTAssertTrue(none.errors.contains("no URL"), none.errors)
      let two = try DemoProcess.run(command, "http://a/", "http://b/")
      XCTAssertEqual(two.code, 2)
      XCTAssertTrue(two.errors.contains("http://b/"), two.errors)
    }
  }
}
