import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and emits the response, regardless of its status, as soon as its head has arrived. Read the body
  /// from that response.
  ///
  /// `timeouts` limit the time until the head. The body may last forever, and be silent. Interceptors see the head; retries
  /// and token refreshes happen before it is emitted.
  ///
  /// `silence` is the maximum time without any byte of the body, except while the reader pauses. Then the body fails with
  /// kind `timeout`. `nil`, the default, is for servers that are silent until they have news. `CurlTransport` then notices a
  /// server that is gone after 90 s, by TCP keepalive, and `URLSessionTransport`, which has none, ends a connection after
  /// 10 minutes of silence.
  public func response(streaming endpoint: some Endpoint, silence: Duration? = nil) -> Single<StreamedResponse> {
    streamed(CallContent(endpoint), mayBeSilent: true, silence: silence)
  }

  /// Calls `endpoint` and, if the status is 200 to 299, calls `body` with the response while its body arrives.
  /// The request ends when `body` returns or throws.
  ///
  /// Each chunk is read when the loop requests it. `body` runs on the caller's actor. For `silence`, see
  /// ``response(streaming:silence:)``.
  ///
  /// - Throws: The call's `NetworkError`, of kind `cancelled` if the task is cancelled, or an error that `body` throws.
  public func withStream<Result: Sendable>(
    _ endpoint: some Endpoint, silence: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (StreamedResponse) async throws -> Result
  ) async throws -> Result {
    let streamed = try await awaited(bodies(CallContent(endpoint), silence: silence).asSingle())
    defer { streamed.cancel() }
    do {
      return try await body(streamed)
    } catch let error as NetworkError
      where error.kind != .cancelled && error.request?.url == streamed.response.request.url
    {
      // The body was truncated. Errors of other calls within the scope have already been reported.
      throw reading.report(error)
    }
  }

  /// Calls `endpoint` and emits the chunks of the body as they arrive, if the status is 200 to 299.
  ///
  /// Each chunk is emitted after the previous one has been processed, on the backend's `mapping` scheduler. A slow
  /// subscriber, or a busy loop over `values`, applies backpressure to the server: at most 256 KB are buffered.
  /// Disposing cancels the request. For `silence`, see ``response(streaming:silence:)``.
  public func stream(_ endpoint: some Endpoint, silence: Duration? = nil) -> Observable<Data> {
    bodies(CallContent(endpoint), silence: silence).flatMap(\.body)
  }

  /// Calls `endpoint` and emits a model for each line of the body, which is line-delimited JSON (NDJSON, JSON Lines).
  ///
  /// `String` and `Data` are each line unchanged, also a blank one; for other types, blank lines are skipped. A
  /// line that can't be decoded, or is longer than `maxLineLength` bytes, is an error of kind `parse`. Its `index` is
  /// the number of the line, from 0. If this is the first line, the error's response has up to 64 KB of the body, and its
  /// message is the server's. Backpressure is the same as for `stream`.
  ///
  /// ```swift
  /// for try await part in network.lines(.post("/generate", json: prompt), as: Part.self, until: { $0.done }).values {
  ///   show(part)
  /// }
  /// ```
  /// Some proxies end a truncated body as if it were complete. If the server marks its last line, name that mark:
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint to call.
  ///   - type: The type of the models.
  ///   - maxLineLength: The maximum number of bytes in a line.
  ///   - isLast: A closure that returns whether a model is the last one. The stream emits it, completes, and
  ///     ends the request. If the body ends earlier, the stream fails with an error of kind `connection`. `nil`, the
  ///     default, completes the stream at the end of the body.
  ///   - silence: The maximum time without any byte, after which the stream fails with kind `timeout`; see
  ///     ``response(streaming:silence:)``.
  public func lines<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, maxLineLength: Int = 1 << 20,
    silence: Duration? = nil, until isLast: (@Sendable (Model) -> Bool)? = nil
  ) -> Observable<Model> {
    let accept = LineModels<Model>.isPlain ? nil : "application/x-ndjson, application/json"
    return bodies(CallContent(endpoint), accept: accept, silence: silence).flatMap { [clock = backend.clock] streamed in
      let models = Observable<Model>(push: { subscription, next in
        let reader = LineModels<Model>(streamed.response, maxLineLength)
        let emit: @Sendable (Model) -> Void = { subscription.deliverIfActive($0, to: next) }
        let scope = LastScope(subscription) { try reader.finish(emit) }
        streamed.body.run(scope) { chunk in
          guard try reader.read(chunk, emit) else { return }
          // The rest of the body may never arrive.
          subscription.own(clock.scheduleRelative(.seconds(10)) { subscription.finish(reader.failure) })
        }
      })
      guard let isLast else { return models }
      let cutOff = streamed.response.explaining(
        NetworkError(
          kind: .connection,
          reason: "the body ended before its last line, which `until` describes; the response is incomplete"))
      // The error follows the last model, too, but `takeWhile` has completed then.
      return models.concat(.error(cutOff)).takeWhile(.inclusive) { !isLast($0) }
    }
  }

  func streamed(
    _ call: CallContent, accept: String? = nil, mayBeSilent: Bool = false, silence: Duration? = nil
  ) -> Single<StreamedResponse> {
    response(to: call, accept: accept, as: .streamed(mayBeSilent: mayBeSilent, silence: silence)).map {
      [mapping = backend.mapping] response in
      var head = response
      head.context[BodyReader.self] = nil
      guard let reader = response.context[BodyReader.self] else {
        // An interceptor's own response, which is complete.
        head.body = Data()
        let buffer = BodyBuffer(mapping)
        _ = buffer.push(response.body)
        buffer.finish(nil)
        return StreamedResponse(head, BodyReader(buffer))
      }
      return StreamedResponse(head, reader)
    }
  }

  /// Chooses HTTP/1.1 for a body whose end must be certain, unless the call itself has chosen a version.
  func avoidHTTP2(_ call: inout CallContent) {
    if call.httpVersion == nil, backend.options.httpVersion == .http2 { call.httpVersion = .http1 }
  }

  /// Emits the response if its status is 200 to 299, else the error with the body that explains it.
  ///
  /// - Parameter patience: The scheduler of a 10 s limit for the body of an error, which may be silent; `nil` for the clock.
  func bodies(
    _ call: CallContent, accept: String? = nil, silence: Duration?, patience: (any SchedulerType)? = nil
  ) -> Observable<StreamedResponse> {
    streamed(call, accept: accept, mayBeSilent: true, silence: silence).asObservable().flatMap {
      streamed -> Observable<StreamedResponse> in
      guard !streamed.response.isSuccess else { return .just(streamed) }
      return self.explained(streamed, patience ?? self.backend.clock).map { _ in streamed }
    }
  }

  /// Fails with the status and up to 1 MB of the body; emits a success with as much of its body.
  func explained(
    _ streamed: StreamedResponse, _ patience: (any SchedulerType)? = nil
  ) -> Observable<Response> {
    start(of: streamed, limit: 1 << 20, patience).map { response in
      try response.reporting { try $0.validated() } ?? response
    }
  }

  /// Emits the response with up to `limit` bytes of its body.
  func start(
    of streamed: StreamedResponse, limit: Int, _ patience: (any SchedulerType)?
  ) -> Observable<Response> {
    // If a body is truncated or never ends, uses the part that has arrived.
    var body = streamed.body.catchError { _ in .empty() }
    if let patience { body = body.timeout(.seconds(10), other: .empty(), scheduler: patience) }
    return .deferred { [body] in
      // Guards the start of the body, to which chunks are appended in place.
      let start = Locked(Data())
      return body.takeWhile { chunk in
        start.withLock { start in
          start += chunk.prefix(limit - start.count)
          return start.count < limit
        }
      }
      .toArray().asObservable()
      .map { _ in
        var response = streamed.response
        response.body = start.withLock { $0 }
        return response
      }
    }
  }
}

private final class LineModels<Model: Decodable & Sendable>: Sendable {
  /// Whether a line is emitted unchanged.
  static var isPlain: Bool { Model.self == String.self || Model.self == Data.self }
  private let response: Response
  private struct State {
    var lines: LineParser
    var count = 0
    /// The start of the body until the first model.
    var start = Data()
    /// The error of the first line, after which only the body is read.
    var failure: NetworkError?
  }
  /// Guards the state; the body's thread takes the parser out and feeds it without the lock.
  private let state: Locked<State>

  init(_ response: Response, _ limit: Int) {
    self.response = response
    state = Locked(State(lines: LineParser(.lineFeed, limit: limit)))
  }

  /// The error of the first line, with the start of the body and the server's message; `nil` without one.
  var failure: NetworkError? {
    let (failure, start) = state.withLock { ($0.failure, $0.start) }
    var response = response
    response.body = start
    return failure.map { response.explainingStream($0) }
  }

  /// Emits the models of the lines that `chunk` completes. Returns `true` if the first line has just failed, so that only the
  /// rest of the body is of interest.
  func read(_ chunk: Data, _ emit: @escaping (Model) -> Void) throws -> Bool {
    let (hasFailed, isFull) = state.withLock { state in
      if state.count == 0 { state.start += chunk.prefix(Response.streamExcerpt - state.start.count) }
      return (state.failure != nil, state.start.count >= Response.streamExcerpt)
    }
    if !hasFailed { try read(emit) { lines, take in try lines.feed(chunk, take) } }
    guard let failure = state.withLock({ $0.failure }) else { return false }
    if isFull { throw self.failure ?? failure }
    return !hasFailed
  }

  func finish(_ emit: @escaping (Model) -> Void) throws {
    if failure == nil { try read(emit) { lines, take in try lines.finish(take) } }
    if let failure { throw failure }
  }

  private func read(
    _ emit: @escaping (Model) -> Void, _ read: (inout LineParser, (ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws {
    // Taken out of the lock, because decoding runs the caller's code. Chunks arrive one at a time.
    var (lines, count) = state.withLock { state in
      (exchange(&state.lines, with: LineParser(.lineFeed, limit: 0)), state.count)
    }
    defer {
      state.withLock { state in
        (state.lines, state.count) = (lines, count)
        if count > 0 { state.start = Data() }
      }
    }
    do {
      try read(&lines) { line in
        if Self.isPlain || !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
          emit(try response.model(Model.self, ofPart: Data(line)))
        }
        count += 1
      }
    } catch {
      let failure = response.failure(error, inPart: count, named: "line")
      guard count == 0, error is NetworkError else { throw failure }
      state.withLock { $0.failure = failure }
    }
  }
}
