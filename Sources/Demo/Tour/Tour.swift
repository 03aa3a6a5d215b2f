import Dispatch
import LoopbackServer
import NetLayerInspector
import NetLayerRecording
import PortableFoundation
import Streams
import Synchronization

/// `Demo`: a tour of NetLayer on a loopback server, which prints each result when it arrives.
enum Tour {
  /// The time limit of the tour, in seconds; it takes about two.
  private static let limit = 15
  /// The pause between two tours, in seconds.
  private static let pause = 5

  static let help = """
    usage: Demo [tour] [--json] [--inspect]

    A tour of NetLayer on its own loopback server. Prints a line for each result when it arrives. With --json, a line
    contains: stop, text. With --inspect, the first line has the URL of a page that shows all calls, and the tour is repeated
    until Ctrl-C, also after a failure.
    """

  static func run(_ console: Console, json: Bool = false, inspects: Bool = false) -> Int32 {
    do {
      let server = try TourServer.start()
      let silent = try TestServer { _ in .neverResponding }
      defer {
        server.stop()
        silent.stop()
      }
      guard inspects else {
        Interrupt.handle { _exit(130) }
        return play(try Stops(server: server, silent: silent, recorder: nil), console, json)
      }
      return try inspect(console, json) { recorder in
        play(try Stops(server: server, silent: silent, recorder: recorder), console, json)
      }
    } catch {
      console.complain("\(error)")
      return 1
    }
  }

  /// Repeats a tour with a page that shows its calls, until the process is interrupted.
  private static func inspect(_ console: Console, _ json: Bool, _ tour: (Recorder) throws -> Int32) throws -> Int32 {
    let recorder = Recorder()
    let inspector = try Inspector(recorder)
    let interrupted = DispatchSemaphore(value: 0)
    Interrupt.handle { interrupted.signal() }
    defer { inspector.stop() }
    console.print(json ? jsonLine("inspect: \(inspector.url.absoluteString)") : InspectCommand.line(inspector))
    repeatTour(console, until: { interrupted.wait(timeout: .now() + .seconds(pause)) == .success }) {
      _ = try tour(recorder)
    }
    return 0
  }

  /// Repeats a tour. One that fails is reported, and the page with its calls remains.
  static func repeatTour(_ console: Console, until isInterrupted: () -> Bool, _ tour: () throws -> Void) {
    repeat {
      do { try tour() } catch { console.complain("the tour failed: \(error)") }
    } while !isInterrupted()
  }

  private static func play(_ stops: Stops, _ console: Console, _ json: Bool) -> Int32 {
    let ended = DispatchSemaphore(value: 0)
    // Set at the end of the stream, and read by the main thread after the semaphore.
    let code = Atomic<Int32>(1)
    let subscription = Observable<String>.concat(stops.all).subscribe(
      onNext: { line in
        // The output is closed, which is not an error.
        if !console.print(json ? jsonLine(line) : styled(line, console.style)) { _exit(console.exitCode(0)) }
      },
      onError: { error in
        console.complain("the tour failed: \(error)")
        ended.signal()
      },
      onCompleted: {
        code.store(0, ordering: .releasing)
        ended.signal()
      })
    if ended.wait(timeout: .now() + .seconds(limit)) == .timedOut {
      subscription.dispose()
      console.complain("the tour took more than \(limit) s")
    }
    return code.load(ordering: .acquiring)
  }

  private static func parts(of line: String) -> (stop: Substring, text: Substring)? {
    line.firstRange(of: ": ").map { (line[..<$0.lowerBound], line[$0.upperBound...]) }
  }

  private static func jsonLine(_ line: String) -> String {
    let parts = parts(of: line)
    return JSONLine().adding("stop", parts.map { String($0.stop) } ?? line)
      .adding("text", parts.map { String($0.text) }).text
  }

  private static func styled(_ line: String, _ style: Style) -> String {
    parts(of: line).map { "\(style.bold("\($0.stop):")) \($0.text)" } ?? style.green(line)
  }
}

struct TourOptions: PlainOptions {
  static let name = "the tour"
  var request = RequestOptions()
  var json: Bool { request.json }
  private(set) var inspects = false

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    if name == "--inspect" {
      inspects = try arguments.flag()
      return true
    }
    return try takePlain(name)
  }
}
