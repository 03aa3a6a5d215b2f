import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and emits the server-sent events of its response, reconnecting when the connection ends (HTML
  /// standard §9.2, "EventSource").
  ///
  /// ```swift
  /// for try await event in network.events(.get("/prices")).values { show(event.data) }
  /// ```
  /// By default, only a request with an idempotent method is sent again: a server may process, and charge for, a
  /// repeated POST twice. Without reconnection, the end of the connection completes the stream, and a connection
  /// failure fails it. `reconnect` overrides this default.
  ///
  /// Each new connection sends the ID of the last event in `Last-Event-ID`. Before it connects, the stream waits for
  /// the longer of two delays: the `retry` time that the server requested, at most ten minutes, and the delay of
  /// `reconnect`. A connection that has lasted resets the number of attempts: for 5 s if it has brought an event, otherwise
  /// for the policy's `maxDelay`, at least 5 s and at most 60 s. If the server has requested 1 s or more, each connection
  /// with an event resets it.
  ///
  /// The stream fails if the status is not a success, if the `Content-Type` is not `text/event-stream`, or if an event
  /// exceeds 1 MB. The error's response has up to 64 KB of a body of another type, and its message is the server's. After the first successful connection, a refused connection only counts as a failed attempt, because the
  /// server may be restarting. So do the temporary statuses: 408, 425, 429 and 5xx, except 501 and 505. Status 204
  /// completes the stream, because the server has no more events.
  ///
  /// `timeouts` limit the time until the head of each response; pass `silence` if the server sends something regularly. Events
  /// arrive on the backend's `mapping` scheduler. A slow
  /// subscriber, or a loop over `values`, applies backpressure to the server. Disposing closes the connection.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint to call.
  ///   - lastEventID: The ID of the last event of an earlier run, after which to continue; `nil` for the beginning.
  ///   - sentinel: The `data` of the event that ends the stream and is not emitted, such as `[DONE]`; `nil` for none.
  ///     If the connection of a POST ends before that event, the stream fails with an error of kind `connection`,
  ///     because the response is incomplete.
  ///   - silence: The maximum time without any byte, comments included, on an open connection. Then the connection is lost, and
  ///     the stream reconnects, or fails with an error of kind `timeout`. Choose twice the interval of the server's comments.
  ///     With `nil`, `CurlTransport` notices a server that is gone after 90 s, by TCP keepalive, and
  ///     `URLSessionTransport`, which has none, ends a connection after 10 minutes of silence.
  ///   - acceptsPlainText: Whether a `text/plain` response and one without `Content-Type` contain events, as some servers
  ///     send them.
  ///   - reconnect: The number of attempts in a row that fail, and the delays between them. `nil` reconnects idempotent
  ///     methods forever, with delays that grow from up to 3 s, as in browsers, to at most a minute. Other methods are
  ///     never reconnected.
  ///   - onReconnect: A closure that is called before each delay with the error that ended the connection and the
  ///     length of the delay. The error is `nil` if the server closed the connection normally. The closure runs on the
  ///     backend's `mapping` scheduler.
  public func events(
    _ endpoint: some Endpoint, lastEventID: String? = nil, until sentinel: String? = nil, silence: Duration? = nil,
    acceptsPlainText: Bool = false, reconnect: RetryPolicy? = nil,
    onReconnect: (@Sendable (NetworkError?, Duration) -> Void)? = nil
  ) -> Observable<ServerSentEvent> {
    let once = reconnect == nil && !endpoint.method.isIdempotent
    let usual = RetryPolicy(attempts: once ? 1 : .max, initialDelay: .seconds(3), maxDelay: .seconds(60))
    var reconnect = reconnect ?? usual
    reconnect.scheduler = reconnect.scheduler ?? backend.clock
    let events = Observable<ServerSentEvent>.deferred { [reconnect] in
      let session = EventSession(
        lastEventID ?? "", reconnect, self.begun(CallContent(endpoint)).context, acceptsPlainText: acceptsPlainText)
      let connection = self.connection(to: endpoint, session, silence: silence, patience: reconnect.timer)
      if once {
        guard let sentinel else { return connection }
        // Only the sentinel shows that the response is complete.
        return connection.concat(
          Observable.deferred { session.isOver(behind: sentinel) ? .empty() : .error(session.cutOff(before: sentinel)) }
        )
      }
      // The end of a connection triggers a reconnection, like its failure.
      let ending = connection.concat(
        Observable.deferred { session.isOver(behind: sentinel) ? .empty() : .error(EventSession.Ended()) })
      return ending.retryWhen { errors in
        errors.flatMap { error in
          guard let pause = session.pause(after: error) else {
            throw error is EventSession.Ended ? session.ended : error
          }
          onReconnect?(error is EventSession.Ended ? nil : NetworkError.wrapping(error), pause)
          return Observable<Int>.timer(pause, scheduler: reconnect.timer)
        }
      }
    }
    return sentinel.map { sentinel in events.takeWhile { $0.data != sentinel } } ?? events
  }

  /// Calls `endpoint` and emits a model decoded from the JSON `data` of each event, like the overload without `as`. `String`
  /// and `Data` are the data itself.
  ///
  /// ```swift
  /// for try await delta in network.events(.post("/chat", json: prompt), as: Delta.self, until: "[DONE]").values {
  ///   print(delta.text, terminator: "")
  /// }
  /// ```
  /// An event that can't be decoded ends the stream with an error of kind `parse`, whose `index` is the number of the
  /// event, from 0. If a server sends events of several types, use `events(_:)` and ``ServerSentEvent/decode(_:)``.
  public func events<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type, lastEventID: String? = nil, until sentinel: String? = nil,
    silence: Duration? = nil, acceptsPlainText: Bool = false, reconnect: RetryPolicy? = nil,
    onReconnect: (@Sendable (NetworkError?, Duration) -> Void)? = nil
  ) -> Observable<Model> {
    let events = events(
      endpoint, lastEventID: lastEventID, until: sentinel, silence: silence, acceptsPlainText: acceptsPlainText,
      reconnect: reconnect, onReconnect: onReconnect)
    return events.enumerated().map { index, event in
      do {
        return try plainContent(type, text: { event.data }, bytes: { Data(event.data.utf8) }) ?? event.decode(type)
      } catch {
        throw event.response?.failure(error, inPart: index, named: "event") ?? error
      }
    }
  }

  private func connection(
    to endpoint: some Endpoint, _ session: EventSession, silence: Duration?, patience: any SchedulerType
  ) -> Observable<ServerSentEvent> {
    Observable.deferred {
      var call = CallContent(endpoint)
      let id = session.lastID
      // Omit an ID that is not a valid header value, or that servers would reject, instead of failing to connect.
      if !id.isEmpty, RequestCheck.isSendable(id) { call.headers["Last-Event-ID"] = id }
      call.context.take(session.context)
      if self.observers != nil { call.context[Resends.self] = session.resends }
      if call.headers["Cache-Control"] == nil { call.headers["Cache-Control"] = "no-store" }
      self.avoidHTTP2(&call)
      let bodies = self.bodies(
        call, accept: "text/event-stream", silence: silence, patience: patience)
      return bodies.flatMap { streamed -> Observable<ServerSentEvent> in
        guard !session.refuses(streamed.response) else {
          return self.start(of: streamed, limit: Response.streamExcerpt, patience).map {
            throw $0.explainingStream(session.refusal(of: $0))
          }
        }
        return try session.opens(streamed.response) ? self.events(in: streamed, session) : .empty()
      }
    }
  }

  private func events(in streamed: StreamedResponse, _ session: EventSession) -> Observable<ServerSentEvent> {
    Observable(push: { subscription, next in
      streamed.body.run(Scope(subscription)) { chunk in
        try session.read(chunk, streamed.response) { received in
          self.observers?.note(.event, of: streamed.response.request) { $0.serverEvent = received }
          var event = received
          event.response = streamed.response
          subscription.deliverIfActive(event, to: next)
        }
      }
    })
  }
}

/// The state that connections share.
private final class EventSession: Sendable {
  /// The error that signals that the server has closed the connection.
  struct Ended: Error {}

  private struct State {
    var parser: ServerSentEventParser
    var isOver = false
    /// The head of the first connection that has delivered a stream of events.
    var response: Response?
  }

  /// Guards the state, which the body's thread and the reconnecting thread access in turn. The parser is taken out and
  /// fed without the lock.
  private let state: Locked<State>
  private let count: ReconnectCount
  private let acceptsPlainText: Bool
  /// The users who have begun the stream, and their calling context.
  let context: Context
  /// The requests of all connections.
  let resends = Resends()

  init(_ lastID: String, _ reconnect: RetryPolicy, _ context: Context, acceptsPlainText: Bool) {
    self.acceptsPlainText = acceptsPlainText
    self.context = context
    state = Locked(State(parser: ServerSentEventParser(lastID: lastID)))
    count = ReconnectCount(reconnect)
  }

  var lastID: String { state.withLock { $0.parser.lastID } }

  /// Returns whether the server has no more events. Some servers close the connection immediately after the `sentinel`
  /// line, without a blank line.
  func isOver(behind sentinel: String?) -> Bool {
    let (isOver, parser) = state.withLock { ($0.isOver, $0.parser) }
    return isOver || sentinel.map { parser.unfinishedData == $0 } ?? false
  }

  /// Returns whether the type of a response is not that of a stream of events.
  func refuses(_ response: Response) -> Bool {
    guard response.status != 204 else { return false }
    let type = response.headers["Content-Type"].map { MediaType($0).essence } ?? ""
    return type != "text/event-stream" && !(acceptsPlainText && (type.isEmpty || type == "text/plain"))
  }

  func refusal(of response: Response) -> NetworkError {
    let type = response.headers["Content-Type"] ?? "no Content-Type"
    return response.parseFailure("the response has \(type) instead of text/event-stream; check the endpoint")
  }

  /// Returns whether `response` has events; `false` if there are no more events.
  func opens(_ response: Response) throws -> Bool {
    if response.status == 204 {
      state.withLock { $0.isOver = true }
      return false
    }
    // The bytes of another coding contain no events, and the stream would reconnect forever.
    if response.remainingCoding != nil { throw response.parseFailure("the events can't be read; check the server") }
    count.noteOpening()
    // Discard the unfinished event of the last connection.
    state.withLock { state in
      state.parser = ServerSentEventParser(continuing: state.parser)
      state.response = state.response ?? response
    }
    return true
  }

  /// Returns the error of a connection that ends before the sentinel.
  func cutOff(before sentinel: String) -> NetworkError {
    let error = NetworkError(
      kind: .connection,
      reason:
        "the server ended the stream before its last event, \(sentinel.debugDescription); the response is incomplete")
    return state.withLock { $0.response }?.explaining(error) ?? error
  }

  /// Emits the events that `chunk` completes.
  ///
  /// - Throws: `NetworkError` of kind `parse` for an event that is too long.
  func read(_ chunk: Data, _ response: Response, _ emit: (ServerSentEvent) -> Void) throws {
    // Taken out of the lock, because `emit` calls the caller's code. Chunks arrive one at a time.
    // The state keeps the ID and the delay, and not the start of a line, which would be copied at the first change.
    var parser = state.withLock { state in
      let rest = ServerSentEventParser(continuing: state.parser)
      return exchange(&state.parser, with: rest)
    }
    let id = parser.lastID
    defer {
      state.withLock { $0.parser = parser }
      // The server may send only the ID of events that it has filtered out.
      if parser.lastID != id { count.noteReceipt() }
    }
    do {
      try parser.feed(chunk) { event in
        count.noteReceipt()
        emit(event)
      }
    } catch {
      throw response.parseFailure("an event in the stream is too long: \(error)", underlying: error)
    }
  }

  /// The error of a stream that the server has closed for the last time.
  var ended: NetworkError {
    let (response, attempts) = (state.withLock { $0.response }, count.attempts)
    return NetworkError(
      kind: .connection,
      reason: "\(response?.request.url.hostAndPort ?? "the server") closed the event stream at attempt \(attempts), "
        + "the last one that reconnect allows; check the server, or allow more attempts", request: response?.request)
  }

  /// Returns the delay before the next connection, or `nil` if there is none.
  func pause(after error: any Error) -> Duration? {
    count.pause(after: error, isEnd: error is Ended, stated: state.withLock { $0.parser.retry })
  }
}
