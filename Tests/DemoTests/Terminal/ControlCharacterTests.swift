import HTTPTransport
import LoopbackServer
import XCTest

final class ControlCharacterTests: XCTestCase {
  /// A terminal executes U+009B and shows text after U+202E in reverse; JSON allows both within a string.
  private let codes = "\u{9B}2J\u{7F}\u{202E}\u{2028}"

  func test_textOfAServer_isShownWithoutControlCharacters() throws {
    let codes = codes
    let server = try TestServer { request in
      switch request.path {
      case "/failure": .json(#"{"code":500,"message":"a\r\n\u001b[2J\#(codes)"}"#)
      case "/feed":
        .json(#"{"code":200,"data":["\#(codes)"],"cursor":\#(request.query("cursor") == nil ? #""\u001b""# : "null")}"#)
      case "/events":
        .stream([.init("event: a\u{1B}\nid: \(codes)\ndata: b\u{1B}\(codes)\n\n")], type: "text/event-stream")
      default: .text("body").header("X-Codes", "\u{1B}[2J\(codes)")
      }
    }
    for (arguments, shown) in [
      (["get", "--envelope", "code=200,message,data", "/failure"], #"\u202e"#),
      (
        ["get", "--raw", "--envelope", "code=200,message,data", "/failure"],
        #"a\r\n\u{1B}[2J\u{9B}2J\u{7F}\u{202E}\u{2028}"#
      ),
      (["get", "/failure"], #""message":"a\r\n\u001b[2J\u009b2J\u007f\u202e\u2028""#),
      (["get", "-i", "/text"], #"\u009b2J\u007f\u202e\u2028"#),
      (["get", "-i", "--raw", "/text"], #"\u{1B}[2J\u{9B}2J\u{7F}\u{202E}\u{2028}"#),
      (["get", "--verbose", "/text"], #"\u{1B}[2J\u{9B}2J\u{7F}\u{202E}\u{2028}"#),
      (["pages", "/feed"], #"next cursor \u{1B}"#), (["pages", "/feed"], #""\u009b2J\u007f\u202e\u2028""#),
      (["pages", "--json", "/feed"], #"["\u009b2J\u007f\u202e\u2028"]"#),
      (["events", "-n1", "/events"], #"a\u{1B} #\u{9B}2J\u{7F}\u{202E}\u{2028}  b\u{1B}\u{9B}2J"#),
      (["events", "-n1", "--json", "/events"], #""data":"b\u001b\u009b2J\u007f\u202e\u2028""#),
    ] {
      let result = try DemoProcess(arguments.dropLast() + [server.url(arguments.last ?? "").absoluteString]).finish()
      // The body of a failure is unchanged with --raw, as that of a success.
      let isBody = arguments.contains("--raw") && arguments.last == "/failure"
      let text = (isBody ? "" : String(decoding: result.output, as: UTF8.self)) + result.errors
      XCTAssertFalse(
        text.unicodeScalars.contains { $0.isControl && $0 != "\n" }, "\(arguments): \(text.debugDescription)")
      XCTAssert(text.contains(shown), "\(arguments): \(text)")
    }
  }
}
