import NetLayer
import PortableFoundation

extension StubTransport {
  /// A script for the server's side of a WebSocket.
  ///
  /// ```swift
  /// let stub = StubTransport([
  ///   .init(.get, "/chat", .socket(.init([.message(.text("hi"), after: .seconds(1))]) { [.message($0)] }))
  /// ])
  /// ```
  public struct WebSocketScript: Sendable {
    /// A step of the server.
    public enum Step: Sendable {
      /// Sends a message, `after` that time since the previous step.
      case message(WebSocketMessage, after: Duration = .zero)
      /// Closes the socket.
      case close(CloseCode, reason: String = "", after: Duration = .zero)
      /// Breaks the connection, so that the socket fails with an error of this kind.
      case failure(NetworkError.Kind, after: Duration = .zero)

      var delay: Duration {
        switch self {
        case .message(_, let delay), .close(_, _, let delay), .failure(_, let delay): delay
        }
      }
    }

    let steps: [Step]
    let reply: @Sendable (WebSocketMessage) -> [Step]

    /// Creates a script of `steps`. After them, the socket plays the steps that `reply` returns for each message from
    /// the client. `reply` is called on the transport's scheduler. The socket stays open after the last step.
    public init(_ steps: [Step] = [], reply: @escaping @Sendable (WebSocketMessage) -> [Step] = { _ in [] }) {
      (self.steps, self.reply) = (steps, reply)
    }
  }
}

extension StubTransport.StubbedResponse {
  /// Returns a WebSocket that plays `script`. It opens after `delay`, with `headers` in the response.
  public static func socket(
    _ script: StubTransport.WebSocketScript, headers: HTTPHeaders = [:], after delay: Duration = .zero
  ) -> StubTransport.StubbedResponse {
    var stubbed = response(status: 101, headers: headers, after: delay)
    stubbed.socket = script
    return stubbed
  }
}

/// A stubbed socket. Everything except the methods of `WebSocketControl` runs on the scheduler.
final class StubWebSocket: WebSocketControl {
  private struct State {
    var receiver: WebSocketReceiver?
    var script: StubTransport.WebSocketScript?
    /// The steps that are due while the client is paused.
    var due: ArraySlice<StubTransport.WebSocketScript.Step> = []
  }

  let beginning = SingleAssignmentDisposable()
  private let request: Request
  private let scheduler: any SchedulerType
  /// The state, used by the scheduler's threads. Closures are called outside the lock.
  private let state: Locked<State>
  private let gate = FlowGate()
  private let timers = CompositeDisposable()

  init(_ request: Request, on scheduler: any SchedulerType, _ receiver: WebSocketReceiver) {
    (self.request, self.scheduler) = (request, scheduler)
    state = Locked(State(receiver: receiver))
  }

  // MARK: Any thread

  func send(_ message: WebSocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
    _ = scheduler.schedule { [self] in
      guard let script = state.withLock({ $0.receiver == nil ? nil : $0.script }) else {
        return completion(
          NetworkError(
            kind: .connection, reason: "the socket is not open, so the message was not sent", request: request))
      }
      completion(nil)
      run(script.reply(message)[...])
    }
  }

  func close(_ code: CloseCode, reason: String) {
    _ = scheduler.schedule { [self] in finish(.success(WebSocketClose(code: code, reason: reason))) }
  }

  func resume() {
    guard gate.resume() else { return }
    _ = scheduler.schedule { [self] in performDue() }
  }

  func dispose() {
    beginning.dispose()
    _ = scheduler.schedule { [self] in
      finish(.failure(NetworkError(kind: .cancelled, reason: "the caller disposed the socket", request: request)))
    }
  }

  // MARK: The scheduler

  func play(_ stubbed: Result<StubTransport.StubbedResponse, NetworkError>) {
    switch stubbed {
    case .failure(let error): finish(.failure(error))
    case .success(let stubbed): after(stubbed.delay) { [self] in open(stubbed) }
    }
  }

  private func open(_ stubbed: StubTransport.StubbedResponse) {
    switch stubbed.result(request) {
    case .failure(let error): finish(.failure(error))
    case .success(let response):
      guard let receiver = state.withLock({ $0.receiver }) else { return }
      receiver.response(response)
      guard let script = stubbed.socket else {
        return finish(
          .failure(
            NetworkError(
              kind: .status, code: response.status, reason: "the stub responded with status \(response.status)",
              request: request, response: response)))
      }
      state.withLock { $0.script = script }
      run(script.steps[...])
    }
  }

  /// Schedules the steps one after another.
  private func run(_ steps: ArraySlice<StubTransport.WebSocketScript.Step>) {
    // A loop, because a recursive call for each step would exhaust the stack.
    var rest = steps
    while let step = rest.first, step.delay <= .zero {
      rest = rest.dropFirst()
      add(step)
    }
    guard let step = rest.first else { return }
    _ = timers.insert(
      scheduler.scheduleRelative(step.delay) { [self, rest = rest.dropFirst()] in
        add(step)
        run(rest)
      })
  }

  private func add(_ step: StubTransport.WebSocketScript.Step) {
    state.withLock { if $0.receiver != nil { $0.due.append(step) } }
    performDue()
  }

  private func performDue() {
    while !gate.isPaused, let step = state.withLock({ $0.due.popFirst() }) { perform(step) }
  }

  private func perform(_ step: StubTransport.WebSocketScript.Step) {
    guard let receiver = state.withLock({ $0.receiver }) else { return }
    switch step {
    case .message(let message, _): _ = gate.deliver(message, to: receiver.message)
    case .close(let code, let reason, _): finish(.success(WebSocketClose(code: code, reason: reason)))
    case .failure(let kind, _):
      finish(.failure(NetworkError(kind: kind, reason: "stubbed failure", request: request)))
    }
  }

  private func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
    if delay > .zero {
      _ = timers.insert(scheduler.scheduleRelative(delay, action))
    } else {
      action()
    }
  }

  private func finish(_ result: Result<WebSocketClose, NetworkError>) {
    let receiver = state.withLock { state in
      defer { (state.script, state.due) = (nil, []) }
      return state.receiver.take()
    }
    timers.dispose()
    receiver?.closed(result)
  }
}
