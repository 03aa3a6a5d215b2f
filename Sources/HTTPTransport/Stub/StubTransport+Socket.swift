import PortableFoundation
import Streams

extension StubTransport {
  /// A script for the server's side of a WebSocket.
  ///
  /// ```swift
  /// let stub = StubTransport([
  ///   .init(.get, "/chat", .socket(.init([.message(.text("hi"), after: 1)]) { [.message($0)] }))
  /// ])
  /// ```
  public struct SocketScript: Sendable {
    /// A step of the server.
    public enum Step: Sendable {
      /// Sends a message, so many seconds after what was before.
      case message(SocketMessage, after: Double = 0)
      /// Closes the socket.
      case close(CloseCode, reason: String = "", after: Double = 0)
      /// Breaks the connection: the socket fails with an error of this kind.
      case failure(NetworkError.Kind, after: Double = 0)

      var delay: Double {
        switch self {
        case .message(_, let delay), .close(_, _, let delay), .failure(_, let delay): delay
        }
      }
    }

    let steps: [Step]
    let reply: @Sendable (SocketMessage) -> [Step]

    /// A script of `steps`, and of the steps that `reply` returns for each message of the client; it is called on the
    /// transport's scheduler. The socket stays open behind the last step.
    public init(_ steps: [Step] = [], reply: @escaping @Sendable (SocketMessage) -> [Step] = { _ in [] }) {
      (self.steps, self.reply) = (steps, reply)
    }
  }
}

extension StubTransport.StubbedResponse {
  /// A WebSocket that plays `script`, opened `delay` seconds later with `headers` in the response.
  public static func socket(
    _ script: StubTransport.SocketScript, headers: HTTPHeaders = [:], after delay: Double = 0
  ) -> StubTransport.StubbedResponse {
    var answer = response(status: 101, headers: headers, after: delay)
    answer.socket = script
    return answer
  }
}

/// A stub's socket; everything but the methods of `SocketControl` happens on the scheduler.
final class StubSocket: SocketControl {
  private struct State {
    var receiver: SocketReceiver?
    var script: StubTransport.SocketScript?
    /// The steps whose time has come, while the client takes no messages.
    var due: ArraySlice<StubTransport.SocketScript.Step> = []
  }

  let beginning = SingleAssignmentDisposable()
  private let request: Request
  private let scheduler: any SchedulerType
  /// Taken by the scheduler's threads; what is called is taken out first.
  private let state: Locked<State>
  private let gate = FlowGate()
  private let timers = CompositeDisposable()

  init(_ request: Request, on scheduler: any SchedulerType, _ receiver: SocketReceiver) {
    (self.request, self.scheduler) = (request, scheduler)
    state = Locked(State(receiver: receiver))
  }

  // MARK: Any thread

  func send(_ message: SocketMessage, completion: @escaping @Sendable (NetworkError?) -> Void) {
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
    _ = scheduler.schedule { [self] in finish(.success(SocketClose(code: code, reason: reason))) }
  }

  func resume() {
    guard gate.resume() else { return }
    _ = scheduler.schedule { [self] in performDue() }
  }

  func dispose() {
    beginning.dispose()
    timers.dispose()
    _ = scheduler.schedule { [self] in
      finish(.failure(NetworkError(kind: .cancelled, reason: "the caller disposed the socket", request: request)))
    }
  }

  // MARK: The scheduler

  func play(_ answer: Result<StubTransport.StubbedResponse, NetworkError>) {
    switch answer {
    case .failure(let error): finish(.failure(error))
    case .success(let answer): after(answer.delay) { [self] in open(answer) }
    }
  }

  private func open(_ answer: StubTransport.StubbedResponse) {
    switch answer.result(request) {
    case .failure(let error): finish(.failure(error))
    case .success(let response):
      guard let receiver = state.withLock({ $0.receiver }) else { return }
      receiver.response(response)
      guard let script = answer.socket else {
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

  /// Lets the time of one step after the other come.
  private func run(_ steps: ArraySlice<StubTransport.SocketScript.Step>) {
    guard let step = steps.first else { return }
    after(step.delay) { [self] in
      state.withLock { if $0.receiver != nil { $0.due.append(step) } }
      performDue()
      run(steps.dropFirst())
    }
  }

  private func performDue() {
    while !gate.isPaused, let step = state.withLock({ $0.due.popFirst() }) { perform(step) }
  }

  private func perform(_ step: StubTransport.SocketScript.Step) {
    guard let receiver = state.withLock({ $0.receiver }) else { return }
    switch step {
    case .message(let message, _): _ = gate.deliver(message, to: receiver.message)
    case .close(let code, let reason, _): finish(.success(SocketClose(code: code, reason: reason)))
    case .failure(let kind, _):
      finish(.failure(NetworkError(kind: kind, reason: "stubbed failure", request: request)))
    }
  }

  private func after(_ seconds: Double, _ action: @escaping @Sendable () -> Void) {
    if seconds > 0 {
      _ = timers.insert(scheduler.scheduleRelative(.seconds(seconds), action))
    } else {
      action()
    }
  }

  private func finish(_ result: Result<SocketClose, NetworkError>) {
    let receiver = state.withLock { state in
      defer { (state.script, state.due) = (nil, []) }
      return state.receiver.take()
    }
    timers.dispose()
    receiver?.closed(result)
  }
}
