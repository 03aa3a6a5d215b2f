import PortableFoundation
import Streams

/// A transport without a network: answers from a closure, a table or a recording, for tests and previews (article rows
/// 1.9, 3.15).
///
/// ```swift
/// let stub = StubTransport([
///   .init(.get, "/user/7", .json(#"{"id":7}"#)),
///   .init(.post, "/like", .sequence([.failure(.timeout), .json(#"{"code":200}"#, after: 2)])),
/// ])
/// ```
/// Completions are called on `scheduler`, never from within `send`.
public final class StubTransport: SocketTransport {
  /// Which requests a stub answers, and how.
  public struct Stub: Sendable {
    let matches: @Sendable (Request) -> Bool
    let answer: StubbedResponse

    /// Answers requests for `path` (without the query); a `method` of `nil` takes any.
    public init(_ method: HTTPMethod?, _ path: String, _ answer: StubbedResponse) {
      self.init({ (method == nil || method == $0.method) && $0.url.path == path }, answer)
    }

    /// Answers the requests that `matches` says yes to.
    public init(_ matches: @escaping @Sendable (Request) -> Bool, _ answer: StubbedResponse) {
      self.matches = matches
      self.answer = answer
    }
  }

  private let scheduler: any SchedulerType
  private let answer: @Sendable (Request) -> StubbedResponse?
  /// Taken by callers and tests.
  private let log = Locked((sent: [Request](), cancelled: [Request]()))

  /// Answers with what `answer` returns; a request it returns `nil` for fails with an error that names it.
  ///
  /// - Parameters:
  ///   - scheduler: where answers come from, and what delays are measured by: a `TestScheduler` makes them virtual.
  ///   - answer: is called on `scheduler`.
  public init(
    on scheduler: any SchedulerType = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.StubTransport"),
    _ answer: @escaping @Sendable (Request) -> StubbedResponse?
  ) {
    self.scheduler = scheduler
    self.answer = answer
  }

  /// Answers from `stubs`; the first that matches counts.
  public convenience init(
    _ stubs: [Stub],
    on scheduler: any SchedulerType = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.StubTransport")
  ) {
    self.init(on: scheduler) { request in stubs.first { $0.matches(request) }?.answer }
  }

  /// Every request sent so far, in order.
  public var requests: [Request] { log.withLock { $0.sent } }

  /// Every request that its caller has cancelled before its result, in order.
  public var cancelled: [Request] { log.withLock { $0.cancelled } }

  /// Answers `request`; see `Transport.send`.
  public func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    start(request, nil, nil, completion)
  }

  /// Answers `request`; reports the progress that the answer has, or else its size at the end. See `Transport.send`.
  public func send(
    _ request: Request, progress: @escaping ProgressHandler,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    start(request, progress, nil, completion)
  }

  /// Answers `request` piece by piece; see `Transport.stream`. An answer that is not made of chunks comes as one.
  public func stream(
    _ request: Request, progress: ProgressHandler?, head: @escaping @Sendable (Response) -> Void,
    chunk: @escaping @Sendable (Data) -> BodyFlow,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    start(request, progress, ResponseReceiver(head: head, chunk: chunk), completion)
  }

  private func start(
    _ request: Request, _ progress: ProgressHandler?, _ receiver: ResponseReceiver?,
    _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    let transfer = StubTransfer(request, on: scheduler, progress, receiver, completion) { [self] in
      log.withLock { $0.cancelled.append(request) }
    }
    transfer.beginning.setDisposable(find(request) { transfer.play($0) })
    return transfer
  }

  /// Opens the socket that the request's answer has; see `SocketTransport.connect`. An answer without one refuses it.
  public func connect(
    _ request: Request, options: SocketOptions, receiver: SocketReceiver
  ) -> any SocketControl {
    let socket = StubSocket(request, on: scheduler, receiver)
    socket.beginning.setDisposable(find(request) { socket.play($0) })
    return socket
  }

  /// Notes `request`, and finds its answer on the scheduler.
  private func find(
    _ request: Request, _ then: @escaping @Sendable (Result<StubbedResponse, NetworkError>) -> Void
  ) -> any Disposable {
    log.withLock { $0.sent.append(request) }
    return scheduler.schedule { [answer] in
      if let refusal = RequestCheck.failure(of: request, url: request.url.absoluteString) {
        then(.failure(refusal))
      } else if let answer = answer(request)?.chosen() {
        then(.success(answer))
      } else {
        let reason = "no stub matches \(request.method) \(request.url.absoluteString); add one to the StubTransport"
        then(.failure(NetworkError(kind: .connection, reason: reason, request: request)))
      }
    }
  }
}
