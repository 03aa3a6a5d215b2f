import XCTest

final class CommandTests: XCTestCase {
  private static let commands = ["get", "pages", "download", "events", "bench"]

  func test_everyCommand_hasHelpWithExamples() throws {
    for command in Self.commands + ["serve"] {
      let result = try DemoProcess.run(command, "--help")
      XCTAssertEqual(result.code, 0)
      XCTAssertEqual(result.lines.first?.hasPrefix("usage: Demo \(command)"), true)
      XCTAssertTrue(command == "serve" || result.lines.contains { $0.hasPrefix("Examples") }, command)
      XCTAssertLessThanOrEqual(result.lines.map(\.count).max() ?? 0, 120, command)
    }
  }

  func test_helpBeforeACommand_isTheHelpOfTheCommand() throws {
    for command in Self.commands + ["serve"] {
      let help = try DemoProcess.run(command, "--help").lines
      XCTAssertEqual(try DemoProcess.run("help", command).lines, help)
      XCTAssertEqual(try DemoProcess.run("--help", command).lines, help)
    }
    let other = try DemoProcess.run("help", "fetch")
    XCTAssertEqual(other.code, 2)
    XCTAssertTrue(other.errors.contains("\"fetch\""), other.errors)
  }

  func test_curl_printsTheCommandAndSendsNothing() throws {
    for command in Self.commands {
      // No server listens on this port.
      let result = try DemoProcess.run(command, "--curl", "-H", "Authorization: Bearer 1", "http://127.0.0.1:9/x")
      XCTAssertEqual(result.code, 0, "\(command): \(result.errors)")
      XCTAssertEqual(result.lines.count, 1)
      XCTAssertTrue(result.lines[0].hasPrefix("curl --globoff"), result.lines[0])
      XCTAssertTrue(result.lines[0].contains("'http://127.0.0.1:9/x' --header 'Authorization: Bearer 1'"))
    }
  }

  func test_verbose_logsOnStandardErrorWithoutSecrets() throws {
    let server = try PlayServer()
    let result = try DemoProcess.run(
      "get", "--verbose", "-H", "Authorization: Bearer of-secrets", "\(server.url)/cart?token=hidden")
    XCTAssertEqual(result.code, 0)
    XCTAssertEqual(result.lines.count, 1)
    XCTAssertTrue(result.errors.contains("--> GET \(server.url)/cart?token=***"), result.errors)
    XCTAssertTrue(result.errors.contains("<-- 200"), result.errors)
    XCTAssertFalse(result.errors.contains("of-secrets"), result.errors)
  }

  func test_colors_areUsedOnlyOnTerminalsThatAllowThem() throws {
    func shown(_ environment: [String: String]) throws -> String {
      let terminal = try Terminal()
      let run = try DemoProcess(["fetch"], terminal: terminal, environment: environment)
      let text = terminal.text()
      XCTAssertEqual(run.wait(), 2)
      XCTAssertTrue(text.contains("unknown command"), text)
      return text
    }
    // Outside the assertion, which reports a skip as a failure.
    let colored = try shown([:])
    XCTAssertTrue(colored.contains("\u{1B}[31m"))
    XCTAssertFalse(try shown(["NO_COLOR": "1"]).contains("\u{1B}"))
    XCTAssertFalse(try shown(["TERM": "dumb"]).contains("\u{1B}"))
    XCTAssertFalse(try DemoProcess.run("fetch").errors.contains("\u{1B}"))
  }

  func test_tour_namesItsStops_asJSON() throws {
    let result = try DemoProcess.run("--json")
    XCTAssertEqual(result.code, 0, result.errors)
    XCTAssertEqual(try object(result.lines.first)["stop"] as? String, "await")
    XCTAssertEqual(try object(result.lines.last)["stop"] as? String, "done")
  }

  func test_version_isAtLeastThatOfTheChangelog() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let changelog = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let newest = try XCTUnwrap(changelog.firstMatch(of: /## \[(\d+\.\d+\.\d+)\]/)).1
    for option in ["--version", "-V"] {
      let result = try DemoProcess.run(option)
      XCTAssertEqual(result.code, 0)
      let match = try XCTUnwrap(result.lines.first?.firstMatch(of: /^NetLayer (\d+\.\d+\.\d+)/), result.errors)
      XCTAssertNotEqual(String(match.1).compare(String(newest), options: .numeric), .orderedAscending)
      #if os(Linux)
        XCTAssertTrue(result.lines[0].contains(" libcurl/"), result.lines[0])
      #endif
    }
  }

  func test_dumbTerminal_receivesNoEscapeCodes() throws {
    let server = try PlayServer()
    for command in [
      ["get", "\(server.url)/cart"], ["bench", "-n", "200", "\(server.url)/cart"], ["pages", "\(server.url)/feed"],
    ] {
      for (kind, isDumb) in [("dumb", true), ("xterm", false)] {
        let terminal = try Terminal()
        let run = try DemoProcess(command, terminal: terminal, environment: ["TERM": kind])
        let text = terminal.text()
        XCTAssertEqual(run.wait(), 0, text)
        XCTAssertEqual(text.contains("\u{1B}"), !isDumb, "\(command) \(kind): \(text)")
      }
    }
  }

  func test_missingOrSecondURL_isNamedInTheError() throws {
    for command in ["pages", "download", "events", "bench"] {
      let none = try DemoProcess.run(command)
      XCTAssertEqual(none.code, 2, "\(command)")
      XCTAssertTrue(none.errors.contains("no URL"), "\(command): \(none.errors)")
      let two = try DemoProcess.run(command, "http://a/", "http://b/")
      XCTAssertEqual(two.code, 2, "\(command)")
      XCTAssertTrue(two.errors.contains("http://b/"), "\(command): \(two.errors)")
    }
  }
}
