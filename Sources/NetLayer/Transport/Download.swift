import Foundation
import Streams

/// An answer on its way into a file: a success is written while it comes in, on a queue of its own, so that a slow disk
/// holds up this transfer alone; any other status is collected in memory.
///
/// When the disk is behind, the transfer pauses. `completion` is called on the queue, when the file is at its destination
/// or nothing of it is left.
final class Download: Sendable {
  /// Chunks may wait for the disk up to this many bytes: enough to keep both sides busy.
  private static let highWater = 1 << 20

  private struct State {
    var control: (any StreamControl)?
    var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
    var isSuccess = false
    /// The body of another status.
    var body = Data()
    /// What is to be written.
    var waiting: [Data] = []
    var waitingBytes = 0
    var isWriting = false
    var isPaused = false
    /// Why the transfer was given up from here.
    var failure: NetworkError?
  }

  private let request: Request
  private let destination: URL
  private let maxBodySize: Int
  private let state: Locked<State>
  private let queue: DispatchQueue
  /// Touched on the queue only.
  private nonisolated(unsafe) var file: DownloadFile?

  /// `nil` when `request` names no file. A body that is no success may have `maxBodySize` bytes.
  init?(
    _ request: Request, maxBodySize: Int, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    guard let destination = request.destination else { return nil }
    self.request = request
    self.destination = destination
    self.maxBodySize = maxBodySize
    state = Locked(State(completion: completion))
    queue = DispatchQueue(label: "NetLayer.Download", qos: .utility)
  }

  /// What the transport tells of the answer.
  var receiver: ResponseReceiver {
    ResponseReceiver(head: { [self] in begin($0) }, chunk: { [self] in take($0) })
  }

  /// Says what steers the transfer; before it is started.
  func steer(_ control: any StreamControl) { state.withLock { $0.control = control } }

  // MARK: The transport's thread

  private func begin(_ response: Response) {
    state.withLock { $0.isSuccess = response.isSuccess }
  }

  private func take(_ chunk: Data) -> BodyFlow {
    let (write, tooLarge, flow) = state.withLock { state -> (Bool, (any StreamControl)?, BodyFlow) in
      guard state.failure == nil else { return (false, nil, .continue) }
      guard state.isSuccess else {
        guard chunk.count <= maxBodySize - state.body.count else {
          let reason = "the body from \(request.url.hostAndPort) is larger than \(maxBodySize) bytes; raise maxBodySize"
          state.failure = NetworkError(kind: .tooLarge, reason: reason, request: request)
          return (false, state.control, .continue)
        }
        state.body.append(chunk)
        return (false, nil, .continue)
      }
      state.waiting.append(chunk)
      state.waitingBytes += chunk.count
      let write = !state.isWriting
      state.isWriting = true
      state.isPaused = state.waitingBytes >= Self.highWater
      return (write, nil, state.isPaused ? .pause : .continue)
    }
    tooLarge?.dispose()
    if write { queue.async { self.writeWaiting() } }
    return flow
  }

  /// The end of the transfer.
  func complete(_ result: Result<Response, NetworkError>) {
    queue.async { [self] in
      let (completion, body, isSuccess, failure, control) = state.withLock { state in
        defer {
          state.completion = nil
          state.control = nil
          state.body = Data()
        }
        return (state.completion, state.body, state.isSuccess, state.failure, state.control)
      }
      let final = finish(result, body: body, isSuccess: isSuccess, failure: failure)
      // Removed before anyone hears of the end.
      file = nil
      completion?(final)
      withExtendedLifetime(control) {}
    }
  }

  // MARK: The queue

  private func writeWaiting() {
    while true {
      let (chunks, paused) = state.withLock { state -> ([Data], (any StreamControl)?) in
        let chunks = state.waiting
        state.waiting = []
        state.waitingBytes = 0
        if chunks.isEmpty { state.isWriting = false }
        defer { state.isPaused = false }
        return (chunks, state.isPaused ? state.control : nil)
      }
      // Before the writing: while the disk takes these, the next come in.
      paused?.resume()
      guard !chunks.isEmpty else { return }
      do {
        for chunk in chunks { try write(chunk) }
      } catch {
        let control = state.withLock { state -> (any StreamControl)? in
          state.failure = state.failure ?? NetworkError.wrapping(error).about(request)
          state.waiting = []
          return state.control
        }
        control?.dispose()
      }
    }
  }

  private func write(_ chunk: Data) throws {
    let file = try opened()
    guard chunk.withUnsafeBytes({ file.append($0) }) else {
      throw NetworkError(kind: .file, reason: file.failure ?? "the file \(destination.path) can't be written")
    }
  }

  private func opened() throws(NetworkError) -> DownloadFile {
    if let file { return file }
    let made = try DownloadFile(destination)
    file = made
    return made
  }

  private func finish(
    _ result: Result<Response, NetworkError>, body: Data, isSuccess: Bool, failure: NetworkError?
  ) -> Result<Response, NetworkError> {
    if let failure { return .failure(failure.measured(as: result)) }
    guard case .success(var response) = result else { return result }
    guard isSuccess else {
      response.body = body
      return .success(response)
    }
    do {
      // A success without content is an empty file.
      try opened().complete()
      response.file = destination
      return .success(response)
    } catch {
      return .failure(error.about(request).measured(as: result))
    }
  }
}

extension NetworkError {
  /// With what the exchange took that ended as `result`.
  fileprivate func measured(as result: Result<Response, NetworkError>) -> NetworkError {
    var error = self
    switch result {
    case .success(let response): error.metrics = error.metrics ?? response.metrics
    case .failure(let failure): error.metrics = error.metrics ?? failure.metrics
    }
    return error
  }
}
