import PortableFoundation
import Streams

/// A stub's response on its way; everything but `dispose` and `resume` happens on the scheduler.
final class StubTransfer: StreamControl {
  private struct State {
    var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
    var progress: ProgressHandler?
    /// What takes the response as it comes in, where it is streamed.
    var receiver: ResponseReceiver?
    var isDisposed = false
    /// What goes on behind a pause.
    var next: (@Sendable () -> Void)?
  }

  let beginning = SingleAssignmentDisposable()
  private let request: Request
  private let scheduler: any SchedulerType
  /// Taken by the scheduler's threads, the caller's and the consumer's; what is called is taken out first.
  private let state: Locked<State>
  private let isStreamed: Bool
  private let onCancel: @Sendable () -> Void
  private let gate = FlowGate()
  private let timer = SerialDisposable()

  init(
    _ request: Request, on scheduler: any SchedulerType, _ progress: ProgressHandler?, _ receiver: ResponseReceiver?,
    _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void,
    onCancel: @escaping @Sendable () -> Void
  ) {
    (self.request, self.scheduler, isStreamed) = (request, scheduler, receiver != nil)
    self.onCancel = onCancel
    state = Locked(State(completion: completion, progress: progress, receiver: receiver))
  }

  func dispose() {
    let cancels = state.withLock { state in
      defer { state.isDisposed = true }
      return !state.isDisposed && state.completion != nil
    }
    guard cancels else { return }
    onCancel()
    beginning.dispose()
    timer.dispose()
    _ = scheduler.schedule { [self] in
      finish(.failure(NetworkError(kind: .cancelled, reason: "the caller cancelled the request", request: request)))
    }
  }

  func resume() {
    guard gate.resume() else { return }
    _ = scheduler.schedule { [self] in state.withLock { $0.next.take() }?() }
  }

  func play(_ answer: Result<StubTransport.StubbedResponse, NetworkError>) {
    switch answer {
    case .failure(let error): finish(.failure(error))
    case .success(let answer):
      guard isStreamed, let chunks = answer.chunks, let head = answer.head else { return play(answer, 0) }
      begin(head(request))
      deliver(chunks[...], every: answer.interval) { [request] in answer.result(request) }
    }
  }

  /// Reports one after the other, then the whole response.
  private func play(_ answer: StubTransport.StubbedResponse, _ index: Int) {
    let isLast = index >= answer.reports.count
    after(isLast ? answer.delay : answer.interval) { [self] in
      guard let current else { return }
      if !isLast {
        current.progress?(answer.reports[index])
        return play(answer, index + 1)
      }
      let result = answer.result(request)
      if answer.reports.isEmpty, case .success(let response) = result {
        current.progress?(TransferProgress(of: request, response))
      }
      guard isStreamed, case .success(let response) = result else { return finish(result) }
      begin(response)
      deliver(response.body.isEmpty ? [] : [response.body], every: 0) { result }
    }
  }

  /// The state of one that is neither over nor cancelled.
  private var current: State? { state.withLock { $0.isDisposed || $0.completion == nil ? nil : $0 } }

  private func begin(_ response: Response) { current?.receiver?.head(response.withoutBody) }

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
    guard let receiver = current?.receiver else { return false }
    state.withLock { $0.next = { self.deliver(rest, every: interval, then: result) } }
    // Where the pause is over already, `resume` has found nothing to do, or has scheduled what follows.
    guard gate.deliver(chunk, to: receiver.chunk) else { return false }
    return state.withLock { $0.next.take() } != nil
  }

  private func after(_ seconds: Double, _ action: @escaping @Sendable () -> Void) {
    if seconds > 0 {
      timer.disposable = scheduler.scheduleRelative(.seconds(seconds), action)
    } else {
      action()
    }
  }

  /// Calls the completion; later calls do nothing.
  private func finish(_ result: Result<Response, NetworkError>) {
    let former = state.withLock { state -> State? in
      // The cancellation is under way.
      if state.isDisposed, case .success = result { return nil }
      defer { (state.completion, state.progress, state.receiver, state.next) = (nil, nil, nil, nil) }
      return state
    }
    former?.completion?(result)
  }
}

extension Response {
  fileprivate var withoutBody: Response {
    var copy = self
    copy.body = Data()
    return copy
  }
}
