import Foundation
import Streams

extension StubTransport {
  /// Answers `request` piece by piece; see `Transport.stream`. An answer that is not made of chunks comes as one.
  public func stream(
    _ request: Request, head: @escaping @Sendable (Response) -> Void,
    chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    let stream = StubStream(
      request, on: scheduler, ResponseReceiver(head: head, chunk: chunk), completion)
    stream.beginning.setDisposable(begin(request) { stream.play($0) })
    return stream
  }
}

/// A streamed answer on its way; everything but `dispose` and `resume` happens on the scheduler.
private final class StubStream: StreamControl {
  private struct State {
    var receiver: ResponseReceiver?
    var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
    var isDisposed = false
    /// What goes on behind a pause.
    var next: (@Sendable () -> Void)?
  }

  let beginning = SingleAssignmentDisposable()
  private let request: Request
  private let scheduler: any SchedulerType
  private let state: Locked<State>
  private let gate = FlowGate()
  private let timer = SerialDisposable()

  init(
    _ request: Request, on scheduler: any SchedulerType, _ receiver: ResponseReceiver,
    _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    self.request = request
    self.scheduler = scheduler
    state = Locked(State(receiver: receiver, completion: completion))
  }

  func dispose() {
    let wasDisposed = state.withLock { state in
      defer { state.isDisposed = true }
      return state.isDisposed
    }
    guard !wasDisposed else { return }
    beginning.dispose()
    timer.dispose()
    _ = scheduler.schedule { [self] in
      finish(.failure(NetworkError(kind: .cancelled, reason: "the caller cancelled the request", request: request)))
    }
  }

  func resume() {
    guard gate.resume() else { return }
    _ = scheduler.schedule { [self] in
      let next = state.withLock { state in
        defer { state.next = nil }
        return state.next
      }
      next?()
    }
  }

  func play(_ answer: Result<StubTransport.Answer, NetworkError>) {
    switch answer {
    case .failure(let error): finish(.failure(error))
    case .success(let answer):
      if let chunks = answer.chunks, let head = answer.head {
        begin(head(request))
        deliver(chunks[...], every: answer.interval) { [request] in answer.result(request) }
      } else {
        after(answer.delay) { [self] in
          let result = answer.result(request)
          guard case .success(let response) = result else { return finish(result) }
          begin(response)
          deliver(response.body.isEmpty ? [] : [response.body], every: 0) { result }
        }
      }
    }
  }

  private var receiver: ResponseReceiver? { state.withLock { $0.isDisposed ? nil : $0.receiver } }

  private func begin(_ response: Response) { receiver?.head(response.withoutBody) }

  private func deliver(
    _ chunks: ArraySlice<Data>, every interval: Double,
    then result: @escaping @Sendable () -> Result<Response, NetworkError>
  ) {
    // A loop, as a call for each chunk would use up the stack.
    var rest = chunks
    while interval <= 0, let first = rest.popFirst() {
      guard handOut(first, before: rest, every: interval, then: result) else { return }
    }
    guard let first = rest.first else { return finish(result().map(\.withoutBody)) }
    after(interval) { [self, rest = rest.dropFirst()] in
      if handOut(first, before: rest, every: interval, then: result) { deliver(rest, every: interval, then: result) }
    }
  }

  /// `true` when `rest` may follow at once.
  private func handOut(
    _ chunk: Data, before rest: ArraySlice<Data>, every interval: Double,
    then result: @escaping @Sendable () -> Result<Response, NetworkError>
  ) -> Bool {
    guard let receiver else { return false }
    state.withLock { $0.next = { self.deliver(rest, every: interval, then: result) } }
    // Where the pause is over already, `resume` has found nothing to do, or has scheduled what follows.
    guard gate.deliver(chunk, to: receiver.chunk) else { return false }
    return state.withLock { state in
      defer { state.next = nil }
      return state.next != nil
    }
  }

  private func after(_ seconds: Double, _ action: @escaping @Sendable () -> Void) {
    if seconds > 0 {
      timer.disposable = scheduler.scheduleRelative(.seconds(seconds), action)
    } else {
      action()
    }
  }

  private func finish(_ result: Result<Response, NetworkError>) {
    let (completion, rest) = state.withLock { state in
      let taken = (state.completion, (state.receiver, state.next))
      (state.completion, state.receiver, state.next) = (nil, nil, nil)
      return taken
    }
    completion?(result)
    withExtendedLifetime(rest) {}
  }
}

extension Response {
  fileprivate var withoutBody: Response {
    var copy = self
    copy.body = Data()
    return copy
  }
}
