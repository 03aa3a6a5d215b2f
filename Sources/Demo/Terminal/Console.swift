import PortableFoundation
import Streams

/// Standard output and error: whole lines, written at once, in the order of the calls.
///
/// The progress line stands on standard error, if that is a terminal, and steps aside for each line of output.
final class Console: Sendable {
  private struct State {
    var progress = ""
    var closed = false
    /// The error number of the write that failed; 0 for none, and for a pipe that its reader closed.
    var failure: Int32 = 0
  }

  /// Whoever prints; the writing itself is inside, so that lines stay whole and a slow reader makes all wait.
  private let state = Locked(State())
  private let errorStyle = Style(descriptor: STDERR_FILENO)
  /// How standard output looks.
  let style = Style(descriptor: STDOUT_FILENO)
  /// Whether standard error is a terminal that can erase a line.
  let showsProgress = isatty(STDERR_FILENO) == 1 && !Style.isDumb

  /// Prints one line; gives false if nobody reads any more.
  @discardableResult
  func print(_ line: String) -> Bool { write(Data((line + "\n").utf8)) }

  /// Writes bytes as they are; gives false if nobody reads any more.
  @discardableResult
  func write(_ bytes: Data) -> Bool {
    state.withLock { state in
      guard !state.closed else { return false }
      if !state.progress.isEmpty { writeAll(Data("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
      if !writeAll(bytes, to: STDOUT_FILENO) {
        state.closed = true
        // A reader that has left, such as `head`, has had what it wanted.
        if errno != EPIPE { state.failure = errno }
      }
      if !state.progress.isEmpty { writeAll(Data(state.progress.utf8), to: STDERR_FILENO) }
      return !state.closed
    }
  }

  /// Prints a diagnostic, on one line whatever is in it.
  func complain(_ message: String) {
    log(errorStyle.red("demo:") + " " + message.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// Prints a remark on standard error.
  func log(_ text: String) {
    state.withLock { state in
      let erase = state.progress.isEmpty ? "" : "\r\u{1B}[K"
      writeAll(Data("\(erase)\(text)\n\(state.progress)".utf8), to: STDERR_FILENO)
    }
  }

  /// Replaces the progress line; an empty one removes it.
  func progress(_ text: String) {
    guard showsProgress else { return }
    state.withLock { state in
      state.progress = text
      writeAll(Data("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
    }
  }

  /// Says what went wrong, if something did; gives the exit code.
  func finish(_ ending: Ending, json: Bool) -> Int32 {
    switch ending {
    case .completed, .unread: return 0
    case .interrupted: return 130
    case .failed(let error):
      let problem = Problem(error)
      if json { print(JSONLine().adding("error", problem.json).text) } else { complain(problem.text) }
      return 1
    }
  }

  /// The exit code of the whole program: 1 instead of 0, with a complaint, where output was lost.
  func exitCode(_ code: Int32) -> Int32 {
    let failure = state.withLock { $0.failure }
    guard failure != 0 else { return code }
    complain("the output can't be written: \(String(cString: strerror(failure)))")
    return code == 0 ? 1 : code
  }

  /// How wide the terminal is that shows the progress line; 80 where it does not say.
  var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
