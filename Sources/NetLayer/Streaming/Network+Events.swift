import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and emits the events that the server sends, connecting again when the connection ends (HTML standard
  /// §9.2, "EventSource").
  ///
  /// ```swift
  /// for try await event in network.events(.get("/prices")).values() { show(event.data) }
  /// ```
  /// Only a request whose method is idempotent is sent again, unless `reconnect` says otherwise: each POST may be carried out,
  /// and paid for, again. There, the end of the connection completes the stream, and its failure fails it.
  ///
  /// Each new connection names the last event in `Last-Event-ID`. It is made after a pause: the `retry` that the
  /// server asked for, at most ten minutes, or that of `reconnect` where it is longer; an event resets the count of attempts.
  /// A status other than a success and a `Content-Type` other than `text/event-stream` are errors and end the stream, as
  /// does an event of more than 1 MB; but once a connection has been a stream, a refused one and the statuses 429 and 5xx
  /// are as in any restart of a server, and count as failed attempts. 204 completes the stream: the server has no more.
  /// Neither `timeouts.idle` nor `timeouts.total` counts. Events arrive on the backend's `mapping` scheduler; a slow
  /// subscriber, or a loop over `values()`, makes the server wait. Disposing ends the connection.
  ///
  /// - Parameters:
  ///   - endpoint: what to call.
  ///   - lastEventID: the event behind which to begin, from an earlier run.
  ///   - sentinel: the `data` of the event that ends the stream and is not emitted, such as `[DONE]`; `nil` for none. A POST
  ///     whose connection ends before that event fails with an error of kind `connection`, as the answer was cut off.
  ///   - reconnect: how often and after which pauses to connect again when nothing arrives. `nil` is, for idempotent methods,
  ///     without end, after up to 3 s, as browsers do, and at most a minute; for others, never.
  ///   - onReconnect: called before each pause with the error that ended the connection, `nil` where the server closed it
  ///     in order, and the length of the pause; on the backend's `mapping` scheduler.
  public func events(
    _ endpoint: some Endpoint, lastEventID: String = "", until sentinel: String? = nil, reconnect: RetryPolicy? = nil,
    onReconnect: (@Sendable (NetworkError?, Duration) -> Void)? = nil
  ) -> Observable<ServerSentEvent> {
    received(endpoint, lastEventID, sentinel, reconnect, onReconnect).map(\.event)
  }

  /// Calls `endpoint` and emits a model of the `data` of each event, which is JSON; else as the form without `as`.
  ///
  /// ```swift
  /// for try await delta in network.events(.post("/chat", json: prompt), as: Delta.self, until: "[DONE]").values() {
  ///   print(delta.text, terminator: "")
  /// }
  /// ```
  /// An event that is not such a model ends the stream with an error of kind `parse`, whose `index` is the number of the
  /// event, from 0. Where a server sends events of several shapes, take `events(_:)` and decode by their `event`.
  public func events<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type, lastEventID: String = "", until sentinel: String? = nil,
    reconnect: RetryPolicy? = nil, onReconnect: (@Sendable (NetworkError?, Duration) -> Void)? = nil
  ) -> Observable<Model> {
    received(endpoint, lastEventID, sentinel, reconnect, onReconnect).enumerated().map { index, received in
      do {
        return try received.response.model(type, ofPart: Data(received.event.data.utf8))
      } catch {
        throw received.response.failure(error, inPart: index, named: "event")
      }
    }
  }

  /// The events, each with the head of the response that it came in.
  private func received(
    _ endpoint: some Endpoint, _ lastEventID: String, _ sentinel: String?, _ reconnect: RetryPolicy?,
    _ onReconnect: (@Sendable (NetworkError?, Duration) -> Void)?
  ) -> Observable<ReceivedEvent> {
    let once = reconnect == nil && !endpoint.method.isIdempotent
    let reconnect =
      reconnect
      ?? RetryPolicy(attempts: once ? 1 : .max, initialDelay: .seconds(3), maximumDelay: .seconds(60))
    let events = Observable<ReceivedEvent>.deferred {
      let session = EventSession(lastEventID)
      if once {
        let connection = self.connection(endpoint, session, reconnect)
        guard let sentinel else { return connection }
        // Only the sentinel shows that nothing is missing.
        return connection.concat(
          Observable.deferred { session.isOver(behind: sentinel) ? .empty() : .error(session.cutOff(before: sentinel)) }
        )
      }
      return self.connection(endpoint, session, reconnect)
        // The end of a connection is a reason to connect again, like its failure.
        .concat(Observable.deferred { session.isOver(behind: sentinel) ? .empty() : .error(EventSession.Ended()) })
        .retryWhen { errors in
          errors.flatMap { error in
            guard let pause = session.pause(after: error, reconnect) else { throw error }
            onReconnect?(error is EventSession.Ended ? nil : NetworkError.wrapping(error), pause)
            return Observable<Int>.timer(pause, scheduler: reconnect.scheduler)
          }
        }
    }
    return sentinel.map { sentinel in events.takeWhile { $0.event.data != sentinel } } ?? events
  }

  private func connection(
    _ endpoint: some Endpoint, _ session: EventSession, _ reconnect: RetryPolicy
  ) -> Observable<ReceivedEvent> {
    Observable.deferred {
      var call = Call(endpoint)
      let id = session.lastID
      // One that no header can carry is left out, as a connection without it is better than none.
      if !id.isEmpty, !id.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { call.headers["Last-Event-ID"] = id }
      if call.headers["Cache-Control"] == nil { call.headers["Cache-Control"] = "no-store" }
      return self.bodies(call, accept: "text/event-stream", idle: 0, patience: reconnect.scheduler).flatMap {
        streamed -> Observable<ReceivedEvent> in
        guard try session.opens(streamed.response) else { return .empty() }
        return Observable(push: { subscription, next in
          let scope = Scope(subscription)
          streamed.body.run(scope) { chunk in
            try session.read(chunk, streamed.response) {
              subscription.deliverIfActive(ReceivedEvent(event: $0, response: streamed.response), to: next)
            }
          }
        })
      }
    }
  }
}

private struct ReceivedEvent: Sendable {
  let event: ServerSentEvent
  let response: Response
}

/// What stays from one connection to the next.
private final class EventSession: Sendable {
  /// The server has closed the connection.
  struct Ended: Error {}

  private struct State {
    var parser: ServerSentEventParser
    var attempt = 0
    var isOver = false
    /// Whether a connection has been a stream.
    var hasOpened: Bool { response != nil }
    /// The head of the first connection that was one.
    var response: Response?
  }

  /// A server may ask for any pause; one of years would be none but the end.
  private static let longestPause = Duration.seconds(600)

  /// The body's thread and the reconnecting one, one at a time; the parser is taken out and fed without the lock.
  private let state: Locked<State>

  init(_ lastID: String) { state = Locked(State(parser: ServerSentEventParser(lastID: lastID))) }

  var lastID: String { state.withLock { $0.parser.lastID } }

  /// Whether the server has no more: some close the connection right behind the line of `sentinel`, without the blank one.
  func isOver(behind sentinel: String?) -> Bool {
    let (isOver, parser) = state.withLock { ($0.isOver, $0.parser) }
    return isOver || sentinel.map { parser.unfinishedData == $0 } ?? false
  }

  /// Whether `response` is a stream of events; `false` when there are no more.
  func opens(_ response: Response) throws -> Bool {
    if response.status == 204 {
      state.withLock { $0.isOver = true }
      return false
    }
    let type = response.headers["Content-Type"] ?? ""
    guard type.lowercased().split(separator: ";").first?.trimmingBlanks == "text/event-stream"
    else {
      throw response.failure(
        "the answer is \(type.isEmpty ? "of no type" : type) instead of text/event-stream; check the endpoint")
    }
    // What the last connection left unfinished is no event.
    state.withLock { state in
      state.parser = ServerSentEventParser(continuing: state.parser)
      state.response = state.response ?? response
    }
    return true
  }

  /// The error of a connection that ends without the event that ends the stream.
  func cutOff(before sentinel: String) -> NetworkError {
    let error = NetworkError(
      kind: .connection,
      reason:
        "the server ended the stream before its last event, \(sentinel.debugDescription); the answer is incomplete")
    return state.withLock { $0.response }?.explaining(error) ?? error
  }

  /// Hands out the events that `chunk` completes.
  ///
  /// - Throws: `NetworkError` of kind `parse` for an event that is too long.
  func read(_ chunk: Data, _ response: Response, _ emit: (ServerSentEvent) -> Void) throws {
    // Taken out, as who takes the events is the caller's code; chunks come one at a time.
    var parser = state.withLock { $0.parser }
    defer { state.withLock { $0.parser = parser } }
    do {
      try parser.feed(chunk) { event in
        state.withLock { $0.attempt = 0 }
        emit(event)
      }
    } catch {
      throw response.failure("an event of the stream is too long: \(error)", underlying: error)
    }
  }

  /// How long to wait before the next connection; `nil` when there is none.
  func pause(after error: any Error, _ policy: RetryPolicy) -> Duration? {
    let (attempt, asked, hasOpened) = state.withLock { state in
      state.attempt += 1
      return (state.attempt, state.parser.retry, state.hasOpened)
    }
    let known = NetworkError.wrapping(error)
    let isRestart = hasOpened && known.kind == .status && (known.code == 429 || (500...599).contains(known.code))
    guard error is Ended || known.kind.isTransient || isRestart else { return nil }
    guard let pause = policy.delay(after: error, attempt: attempt) else { return nil }
    let busy = known.response.flatMap { RetryAfter($0.headers, now: policy.scheduler.now)?.pause }
    return max(pause, min(max(asked ?? .zero, busy ?? .zero), Self.longestPause))
  }
}
