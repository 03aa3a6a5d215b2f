import NetLayer
import PortableFoundation
import Streams

/// A body that is written while it arrives, so that it may be endless, or larger than the memory.
extension Fetcher {
  /// Writes the body of `url` to standard output, or to the file of `-o`, and returns the exit code.
  func stream(_ url: URL) -> Int32 {
    let output = StreamedOutput(console, file: options.output.map { URL(filePath: $0) })
    let showsHeaders = options.showsHeaders
    let ending = network.response(streaming: options.target(url)).asObservable()
      .flatMap { streamed -> Observable<Data> in
        try output.begin(streamed.response, showsHeaders: showsHeaders)
        return streamed.body
      }
      .map { try output.write($0) }
      .wait { $0 }
    switch ending {
    case .interrupted: return 130
    case .unread: return 0
    case .completed:
      do { try output.complete() } catch { return complain(error, url) }
      return 0
    case .failed(let error): return complain(error, url)
    }
  }

  private func complain(_ error: any Error, _ url: URL) -> Int32 {
    console.complain("\(Target.shown(url.absoluteString)): \(Problem(error).text)")
    return 1
  }
}

/// The destination of a body: standard output, or a file that appears when it is complete.
private final class StreamedOutput: Sendable {
  private struct State {
    /// The response, with the start of its body if it is a failure.
    var response: Response?
    var file: PartialFile?
  }

  /// The maximum number of bytes of a failure's body in its message.
  private static let maxWords = 64 << 10

  private let console: Console
  private let destination: URL?
  /// The thread of the stream writes the state, and the main thread reads it at the end.
  private let state = Locked(State())

  init(_ console: Console, file: URL?) { (self.console, destination) = (console, file) }

  func begin(_ response: Response, showsHeaders: Bool) throws {
    let destination = response.isSuccess ? destination : nil
    try state.withLock { state in
      state.response = response
      state.file = try destination.map { try PartialFile($0) }
    }
    if showsHeaders { console.write(ResultLine.head(of: response.headers, response.status)) }
  }

  /// Writes a chunk, and returns `false` if the output is closed. The body of a failure is not stored in the file.
  func write(_ chunk: Data) throws -> Bool {
    let isPrinted = try state.withLock { state in
      if let file = state.file {
        try file.append(chunk)
        return false
      }
      if state.response?.isSuccess == false, state.response?.body.count ?? 0 < Self.maxWords {
        state.response?.body.append(chunk)
      }
      return destination == nil
    }
    return !isPrinted || console.write(chunk)
  }

  /// Completes the file.
  ///
  /// - Throws: The error of an unsuccessful status, or of the file.
  func complete() throws {
    try state.withLock { state in
      _ = try state.response?.validated()
      try state.file?.complete()
    }
  }
}
