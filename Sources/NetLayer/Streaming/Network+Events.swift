import Foundation
import Streams

extension Network {
  /// Calls `endpoint` and emits the events that the server sends, connecting anew when the connection ends (HTML standard
  /// §9.2, "EventSource").
  ///
  /// Only a request whose method is idempotent is sent again, unless `reconnect` says otherwise: each POST may be carried out,
  /// and paid for, anew. There, the end of the connection completes the stream, and its failure fails it.
  ///
  /// Each new connection says with `Last-Event-ID` which event was the last. It is made after a pause: the `retry` that the
  /// server asked for, at most ten minutes, or that of `reconnect` where it is longer; an event begins its count of attempts
  /// anew. A status other than a success and a `Content-Type` other than `text/event-stream` are errors and end the stream, as
  /// does an event of more than 1 MB; but once a connection has been a stream, a refused one and the statuses 429 and 5xx
  /// are as in any restart of a server, and count as failed attempts. 204 completes the stream: the server has no more. Neither `timeouts.idle` nor `timeouts.total`
  /// counts. Events arrive on the back end's `mapping` scheduler; who is slow makes the server wait. Disposing ends the
  /// connection.
  ///
  /// - Parameters:
  ///   - endpoint: what to call.
  ///   - lastEventID: the event behind which to begin, from an earlier run.
  ///   - sentinel: the `data` of the event that ends the stream and is not emitted, such as `[DONE]`; `nil` for none.
  ///   - reconnect: how often and after which pauses to connect anew when nothing arrives. `nil` is, for idempotent methods,
  ///     without end, after up to 3 s, as browsers do, and at most a minute; for others, never.
  public func events(
    _ endpoint: some Endpoint, lastEventID: String = "", until sentinel: String? = nil, reconnect: RetryPolicy? = nil
  ) -> Observable<ServerSentEvent> {
    let once = reconnect == nil && !endpoint.method.isIdempotent
    let reconnect =
      reconnect
      ?? RetryPolicy(attempts: once ? 1 : .max, initialDelay: .seconds(3), maximumDelay: .seconds(60))
    let events = Observable<ServerSentEvent>.deferred {
      let session = EventSession(lastEventID)
      if once { return self.connection(endpoint, session, reconnect) }
      return self.connection(endpoint, session, reconnect)
        // The end of a connection is a reason to connect anew, like its failure.
        .concat(Observable.deferred { session.isOver ? .empty() : .error(EventSession.Ended()) })
        .retryWhen { errors in
          errors.flatMap { error in
            guard let pause = session.pause(after: error, reconnect) else { throw error }
            return Observable<Int>.timer(pause, scheduler: reconnect.scheduler)
          }
        }
    }
    return sentinel.map { sentinel in events.takeWhile { $0.data != sentinel } } ?? events
  }

  private func connection(
    _ endpoint: some Endpoint, _ session: EventSession, _ reconnect: RetryPolicy
  ) -> Observable<ServerSentEvent> {
    Observable.deferred {
      var call = Call(endpoint)
      let id = session.lastID
      // One that no header can carry is left out, as a connection without it is better than none.
      if !id.isEmpty, !id.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { call.headers["Last-Event-ID"] = id }
      if call.headers["Cache-Control"] == nil { call.headers["Cache-Control"] = "no-store" }
      return self.bodies(call, accept: "text/event-stream", idle: 0, patience: reconnect.scheduler).flatMap {
        streamed -> Observable<ServerSentEvent> in
        guard try session.opens(streamed.response) else { return .empty() }
        return .create { observer in
          streamed.body.subscribe(
            onNext: { session.read($0, streamed.response, to: observer) }, onError: { observer.onError($0) },
            onCompleted: { observer.onCompleted() })
        }
      }
    }
  }
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
    var hasOpened = false
  }

  /// A server may ask for any pause; one of years would be none but the end.
  private static let longestPause = Duration.seconds(600)

  /// The body's thread and the reconnecting one, one at a time; the parser is taken out and fed without the lock.
  private let state: Locked<State>

  init(_ lastID: String) { state = Locked(State(parser: ServerSentEventParser(lastID: lastID))) }

  var lastID: String { state.withLock { $0.parser.lastID } }
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Whether `response` is a stream of events; `false` when there are no more.
  func opens(_ response: Response) throws -> Bool {
    if response.status == 204 {
      state.withLock { $0.isOver = true }
      return false
    }
    let type = response.headers["Content-Type"] ?? ""
    guard type.lowercased().split(separator: ";").first?.trimmingCharacters(in: .whitespaces) == "text/event-stream"
    else {
      throw response.failure(
        "the answer is \(type.isEmpty ? "of no type" : type) instead of text/event-stream; check the endpoint")
    }
    // What the last connection left unfinished is no event.
    state.withLock { state in
      state.parser = ServerSentEventParser(continuing: state.parser)
      state.hasOpened = true
    }
    return true
  }

  func read(_ chunk: Data, _ response: Response, to observer: AnyObserver<ServerSentEvent>) {
    // Taken out, as the observer is the caller's code; pieces come one at a time.
    var parser = state.withLock { $0.parser }
    do {
      try parser.feed(chunk) { event in
        state.withLock { $0.attempt = 0 }
        observer.onNext(event)
      }
      state.withLock { $0.parser = parser }
    } catch {
      state.withLock { $0.parser = parser }
      observer.onError(response.failure("an event of the stream is too long: \(error)", underlying: error))
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
