import PortableFoundation

/// The hand-over of a result to a task. The note of the upload remains until the task has taken the result, because a
/// process that is killed before would upload the file again.
final class UploadReceipt: Sendable {
  private enum State {
    case open
    /// The function that ends the upload. Its parameter is whether the result was taken.
    case held(@Sendable (Bool) -> Void)
    case ended
  }

  /// Guards the state, which the thread that ends the upload and the task change. The function is called outside.
  private let state = Locked(State.open)

  /// Keeps the function that ends the upload until the task calls `end`.
  func hold(_ close: @escaping @Sendable (Bool) -> Void) {
    let isOver = state.withLock { state in
      if case .ended = state { return true }
      state = .held(close)
      return false
    }
    if isOver { close(false) }
  }

  /// Ends the upload as taken, if it waits for the task.
  func endIfHeld() {
    let close = state.withLock { state -> (@Sendable (Bool) -> Void)? in
      guard case .held(let close) = state else { return nil }
      state = .ended
      return close
    }
    close?(true)
  }

  /// Ends the upload; only the first call has an effect.
  func end(isTaken: Bool) {
    let state = state.withLock { exchange(&$0, with: .ended) }
    if case .held(let close) = state { close(isTaken) }
  }
}

extension UploadState.Finished {
  /// Returns the stored form of a response without secret fields such as cookies; `nil` for one that is too large.
  init?(_ response: Response, hiding redaction: Redaction = .standard) {
    let headers = response.headers.filter { !redaction.hides($0.name) }.map { [$0.name, $0.value] }
    let size = headers.reduce(response.body.count) { $0 + $1[0].utf8.count + $1[1].utf8.count }
    guard size <= Self.maxBody else { return nil }
    self.init(url: response.url, status: response.status, headers: headers, body: response.body)
  }

  func response(to request: Request) -> Response {
    let fields = headers.filter { $0.count == 2 }.map { HTTPHeaders.Field(name: $0[0], value: $0[1]) }
    return Response(request: request, url: url, status: status, headers: HTTPHeaders(fields), body: body)
  }
}
