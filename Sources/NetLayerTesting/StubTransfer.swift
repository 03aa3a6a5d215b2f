import NetLayer
import PortableFoundation

/// The state of one stubbed request. Everything except `dispose` and `resume` runs on the scheduler.
final class StubTransfer: StreamControl {
  private struct State {
    var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
    var progress: ProgressHandler?
    var receiver: StreamReceiver?
    var isDisposed = false
    /// The action to run after a pause.
    var next: (@Sendable () -> Void)?
  }

  let beginning = SingleAssignmentDisposable()
  private let request: Request
  private let scheduler: any SchedulerType
  /// The state, used by the threads of the scheduler, the caller and the consumer. Closures are called outside the
  /// lock.
  private let state: Locked<State>
  private let isStreamed: Bool
  private let onCancel: @Sendable () -> Void
  private let gate = FlowGate()
  private let timer = SerialDisposable()

  init(
    _ request: Request, on scheduler: any SchedulerType, _ progress: ProgressHandler?, _ receiver: StreamReceiver?,
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

  func play(_ stubbed: Result<StubTransport.StubbedResponse, NetworkError>) {
    switch stubbed {
    case .failure(let error): finish(.failure(error))
    case .success(let stubbed):
      guard isStreamed, let chunks = stubbed.chunks, let head = stubbed.head else { return play(stubbed, 0) }
      begin(head(request))
      deliver(chunks[...], every: stubbed.interval) { [request] in stubbed.result(request) }
    }
  }

  /// Delivers the progress reports one by one, then the response.
  private func play(_ stubbed: StubTransport.StubbedResponse, _ index: Int) {
    let isLast = index >= stubbed.reports.count
    after(isLast ? stubbed.delay : stubbed.interval) { [self] in
      guard let current else { return }
      if !isLast {
        current.progress?(stubbed.reports[index])
        return play(stubbed, index + 1)
      }
      let result = stubbed.result(request)
      if stubbed.reports.isEmpty, case .success(let response) = result {
        current.progress?(TransferProgress(of: request, response))
      }
      guard isStreamed, case .success(let response) = result else { return finish(result) }
      begin(response)
      deliver(response.body.isEmpty ? [] : [response.body], every: .zero) { result }
    }
  }

  /// The state; `nil` if the request is finished or cancelled.
  private var current: State? { state.withLock { $0.isDisposed || $0.completion == nil ? nil : $0 } }

  private func begin(_ response: Response) { current?.receiver?.head(response.withoutBody) }

  private func deliver(
    _ chunks: ArraySlice<Data>, every interval: Duration,
    then result: @escaping @Sendable () -> Result<Response, NetworkError>
  ) {
    // A loop, because a recursive call for each chunk would exhaust the stack.
    var rest = chunks
    while interval <= .zero, let first = rest.popFirst() {
      guard emit(first, before: rest, every: interval, then: result) else { return }
    }
    guard let first = rest.first else { return finish(result().map(\.withoutBody)) }
    after(interval) { [self, rest = rest.dropFirst()] in
      if emit(first, before: rest, every: interval, then: result) { deliver(rest, every: interval, then: result) }
    }
  }

  /// Returns `true` if `rest` may follow immediately.
  private func emit(
    _ chunk: Data, before rest: ArraySlice<Data>, every interval: Duration,
    then result: @escaping @Sendable () -> Result<Response, NetworkError>
  ) -> Bool {
    guard let receiver = current?.receiver else { return false }
    state.withLock { $0.next = { self.deliver(rest, every: interval, then: result) } }
    // If the pause has already ended, `resume` either had no effect or has scheduled the rest.
    guard gate.deliver(chunk, to: receiver.chunk) else { return false }
    return state.withLock { $0.next.take() } != nil
  }

  private func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
    if delay > .zero {
      timer.disposable = scheduler.scheduleRelative(delay, action)
    } else {
      action()
    }
  }

  private func finish(_ result: Result<Response, NetworkError>) {
    let former = state.withLock { state -> State? in
      // The cancellation is in progress.
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
