import NetLayer
import PortableFoundation
import Streams

/// Standard output and standard error. Lines are written whole and unbuffered, in the order of the calls.
///
/// If standard error is a terminal, it shows a progress line below the output.
final class Console: Sendable {
  private struct State {
    var progress = ""
    /// Whether a terminal shows output without a final line break, which erasing the line would remove.
    var endsWithinLine = false
    var closed = false
    /// The error number of a failed write; 0 if none failed or the reader has closed the pipe.
    var failure: Int32 = 0
  }

  /// Guards the terminal. Writes happen under the lock, so that lines are not mixed. A blocked write blocks all others.
  private let state = Locked(State())
  private let errorStyle = Style(descriptor: STDERR_FILENO)
  /// The style of standard output.
  let style = Style(descriptor: STDOUT_FILENO)
  /// A Boolean value that indicates whether standard error is a terminal that can erase a line.
  let showsProgress = isatty(STDERR_FILENO) == 1 && !Style.isDumb
  /// A Boolean value that indicates whether standard output is a terminal.
  let isTerminal = isatty(STDOUT_FILENO) == 1

  /// Prints one line, and returns `false` if the output is closed.
  @discardableResult
  func print(_ line: String) -> Bool { write(Data((line + "\n").utf8)) }

  /// Prints an object of JSON, and returns `false` if the output is closed. A terminal shows it indented, unless
  /// `isLine` is `true`.
  @discardableResult
  func print(json: String, isLine: Bool) -> Bool {
    print(isTerminal && !isLine ? IndentedJSON.text(json, style) : json)
  }

  /// Writes bytes unchanged, and returns `false` if the output is closed.
  @discardableResult
  func write(_ bytes: Data) -> Bool {
    state.withLock { state in
      guard !state.closed else { return false }
      if !state.progress.isEmpty { writeAll(Data("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
      if !writeAll(bytes, to: STDOUT_FILENO) {
        state.closed = true
        // A reader that closes the pipe, such as `head`, needs no more output.
        if errno != EPIPE { state.failure = errno }
      }
      if isTerminal, let last = bytes.last { state.endsWithinLine = last != UInt8(ascii: "\n") }
      if !state.progress.isEmpty { show(state.progress, &state) }
      return !state.closed
    }
  }

  /// Prints a diagnostic message on one line of standard error, with control characters in visible form.
  func complain(_ message: String) { log(errorStyle.red("demo:") + " " + message.escapingControls()) }

  /// Prints text unchanged on standard error. Text of a server must not contain control characters.
  func log(_ text: String) {
    state.withLock { state in
      show((state.progress.isEmpty ? "" : "\r\u{1B}[K") + "\(text)\n\(state.progress)", &state)
    }
  }

  /// Replaces the progress line; an empty text removes it.
  func progress(_ text: String) {
    guard showsProgress else { return }
    state.withLock { state in
      // The last output may end within the line of the cursor.
      let erase = state.progress.isEmpty ? "" : "\r\u{1B}[K"
      state.progress = text
      if !(erase + text).isEmpty { show(erase + text, &state) }
    }
  }

  /// Writes to standard error, on a new line if the output ends within a line.
  private func show(_ text: String, _ state: inout State) {
    let lineBreak = state.endsWithinLine ? "\n" : ""
    state.endsWithinLine = false
    writeAll(Data((lineBreak + text).utf8), to: STDERR_FILENO)
  }

  /// Prints the error of `ending`, if there is one, and returns the exit code.
  func finish(_ ending: Ending, json: Bool) -> Int32 {
    switch ending {
    case .completed, .unread: return 0
    case .interrupted: return 130
    case .failed(let error):
      let problem = Problem(error)
      if json {
        print(problem.adding(to: JSONLine()).text)
      } else {
        complain(problem.text)
        if let body = problem.body { log(body.text.escapingControls()) }
      }
      return 1
    }
  }

  /// Returns the exit code of the program. If output was lost, prints a message and returns 1 instead of 0.
  func exitCode(_ code: Int32) -> Int32 {
    let failure = state.withLock { $0.failure }
    guard failure != 0 else { return code }
    complain("the output can't be written: \(String(cString: strerror(failure)))")
    return code == 0 ? 1 : code
  }

  /// The width of the terminal of standard error; 80 if it is unknown.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
