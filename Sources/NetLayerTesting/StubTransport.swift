import NetLayer
import PortableFoundation

/// A transport without a network, for tests and previews. It returns responses from a closure, a table or a recording.
///
/// ```swift
/// let stub = StubTransport([
///   .init(.get, "/user/7", .json(#"{"id":7}"#)),
///   .init(.post, "/like", .sequence([.failure(.timeout), .json(#"{"code":200}"#, after: .seconds(2))])),
/// ])
/// ```
/// Completions are called on `scheduler`, never from within `send`.
public final class StubTransport: WebSocketTransport {
  /// A rule of a stub: the requests that it matches, and its response to them.
  public struct Stub: Sendable {
    let matches: @Sendable (Request) -> Bool
    let response: StubbedResponse

    /// Creates a rule for requests to `path`, without the query. A `method` of `nil` matches all methods.
    public init(_ method: HTTPMethod?, _ path: String, _ response: StubbedResponse) {
      self.init({ (method == nil || method == $0.method) && $0.url.path == path }, response)
    }

    /// Creates a rule for the requests for which `matches` returns `true`.
    public init(_ matches: @escaping @Sendable (Request) -> Bool, _ response: StubbedResponse) {
      self.matches = matches
      self.response = response
    }
  }

  private let scheduler: any SchedulerType
  private let response: @Sendable (Request) -> StubbedResponse?
  /// The requests, used by callers and tests.
  private let log = Locked((sent: [Request](), cancelled: [Request]()))

  /// Creates a transport whose responses are returned by a closure.
  ///
  /// - Parameters:
  ///   - scheduler: The scheduler that delivers responses and measures delays; a `TestScheduler` makes time virtual.
  ///   - response: A closure that returns the response to a request, called on `scheduler`. If it returns `nil`, the
  ///     request fails with an error that names the request.
  public init(
    on scheduler: any SchedulerType = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.StubTransport"),
    _ response: @escaping @Sendable (Request) -> StubbedResponse?
  ) {
    self.scheduler = scheduler
    self.response = response
  }

  /// Creates a transport with rules. The first rule that matches a request is used.
  public convenience init(
    _ stubs: [Stub],
    on scheduler: any SchedulerType = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.StubTransport")
  ) {
    self.init(on: scheduler) { request in stubs.first { $0.matches(request) }?.response }
  }

  /// The requests sent so far, in order.
  public var requests: [Request] { log.withLock { $0.sent } }

  /// The requests that their callers cancelled before the result, in order.
  public var cancelled: [Request] { log.withLock { $0.cancelled } }

  /// Responds to `request`, and reports the progress of the stubbed response, or its size at the end. See
  /// `Transport.send`.
  public func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    start(request, progress, nil, completion)
  }

  /// Responds to `request` chunk by chunk; see `Transport.stream`. A response without chunks is delivered as one chunk.
  public func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
    start(request, progress, receiver, receiver.completion)
  }

  private func start(
    _ request: Request, _ progress: ProgressHandler?, _ receiver: StreamReceiver?,
    _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any StreamControl {
    let transfer = StubTransfer(request, on: scheduler, progress, receiver, completion) { [self] in
      log.withLock { $0.cancelled.append(request) }
    }
    transfer.beginning.setDisposable(find(request) { transfer.play($0) })
    return transfer
  }

  /// Opens the stubbed socket for `request`; see `WebSocketTransport.connect`. A stubbed response without a socket rejects
  /// it.
  public func connect(
    _ request: Request, options: WebSocketOptions, receiver: WebSocketReceiver
  ) -> any WebSocketControl {
    let socket = StubWebSocket(request, on: scheduler, receiver)
    socket.beginning.setDisposable(find(request) { socket.play($0) })
    return socket
  }

  /// Records `request`, and looks up its response on the scheduler.
  private func find(
    _ request: Request, _ then: @escaping @Sendable (Result<StubbedResponse, NetworkError>) -> Void
  ) -> any Disposable {
    log.withLock { $0.sent.append(request) }
    return scheduler.schedule { [response] in
      if let failure = RequestCheck.failure(of: request, url: request.url.absoluteString) {
        then(.failure(failure))
      } else if let response = response(request)?.chosen() {
        then(.success(response))
      } else {
        let reason = "no stub matches \(request.method) \(request.url.absoluteString); add one to the StubTransport"
        then(.failure(NetworkError(kind: .connection, reason: reason, request: request)))
      }
    }
  }
}

extension StubTransport.Stub {
  /// Creates a stub for the requests of `endpoint`. It matches the method and the path, for any base URL; parameters
  /// are not compared.
  public init(_ endpoint: some Endpoint, _ answer: StubTransport.StubbedResponse) {
    let (method, base, path) = (endpoint.method, endpoint.baseURL, endpoint.path)
    self.init(
      { request in
        guard request.method == method else { return false }
        let root = base ?? URL(string: "/", relativeTo: request.url)?.absoluteURL
        guard let wanted = try? path.url(below: root).path else { return false }
        let (path, below) = (request.url.path, wanted.hasPrefix("/") ? wanted : "/" + wanted)
        return path == below || (base == nil && path.hasSuffix(below))
      }, answer)
  }
}
