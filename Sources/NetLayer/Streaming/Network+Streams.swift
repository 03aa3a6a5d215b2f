import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and gives its answer, whatever the status, as soon as its head is there; the body is read from it.
  ///
  /// The back end's `timeouts.total` does not count: a stream may last. Silence ends it after `timeouts.idle`, but not while
  /// it is the reader who pauses. Interceptors see the head; retries and refreshes happen before it is given.
  public func open(_ endpoint: some Endpoint) -> Single<StreamedResponse> { open(Call(endpoint)) }

  /// Calls `endpoint` and, when the status is a success, gives its head and the body as it comes in to `body`; the
  /// exchange ends when that returns or throws.
  ///
  /// ```swift
  /// try await network.withStream(.get("/export")) { response, chunks in
  ///   for try await chunk in chunks { try file.write(contentsOf: chunk) }
  /// }
  /// ```
  /// Each piece is read when the loop asks for it: who is slow makes the server wait. `body` runs where the caller does, so
  /// that it may touch what is the caller's.
  ///
  /// - Throws: the call's `NetworkError`, of kind `cancelled` when the task is cancelled, or what `body` throws.
  public func withStream<Result: Sendable>(
    _ endpoint: some Endpoint, isolation: isolated (any Actor)? = #isolation,
    _ body: (Response, StreamedResponse.Chunks) async throws -> Result
  ) async throws -> Result {
    let streamed = try await awaited(bodies(Call(endpoint)).asSingle())
    defer { streamed.cancel() }
    do {
      return try await body(streamed.response, streamed.chunks)
    } catch let error as NetworkError
      where error.kind != .cancelled && error.request?.url == streamed.response.request.url
    {
      // A body that breaks off; what the scope's own calls have thrown was reported by them.
      throw reading.report(error)
    }
  }

  /// Calls `endpoint` and emits the pieces of the body as they come, if the status is a success.
  ///
  /// The next chunk comes when the last has been dealt with, on the backend's `mapping` scheduler. A slow subscriber, or a
  /// loop over `values()` that is at work, makes the server wait: at most 256 KB wait in memory. Disposing ends the request.
  public func stream(_ endpoint: some Endpoint) -> Observable<Data> { bodies(Call(endpoint)).flatMap(\.body) }

  /// Calls `endpoint` and emits a model of each line of the body, which is line-delimited JSON (NDJSON, JSON Lines).
  ///
  /// Blank lines are left out. A line that is no such model ends the stream with an error of kind `parse`, whose `index` is
  /// the number of the line, from 0; so does one of more than `maxLineLength` bytes. Backpressure as in `stream`.
  public func lines<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, maxLineLength: Int = 1 << 20
  ) -> Observable<Model> {
    bodies(Call(endpoint), accept: "application/x-ndjson, application/json").flatMap { streamed in
      Observable(push: { subscription, next in
        let reader = LineModels<Model>(streamed.response, maxLineLength)
        let emit: @Sendable (Model) -> Void = { subscription.deliverIfActive($0, to: next) }
        let scope = LastScope(subscription) { try reader.finish(emit) }
        streamed.body.run(scope) { try reader.read($0, emit) }
      })
    }
  }

  func open(_ call: Call, accept: String? = nil, idle: Double? = nil) -> Single<StreamedResponse> {
    pipeline.opened { [builder] in
      var request = try builder.request(for: call, accept: accept)
      if let idle { request.timeouts.idle = idle }
      return request
    }
  }

  /// The answer, if its status is a success; else the error with the body that explains it.
  ///
  /// - Parameter patience: what ends the wait for an explanation after 10 s, where no idle limit does.
  func bodies(
    _ call: Call, accept: String? = nil, idle: Double? = nil, patience: (any SchedulerType)? = nil
  ) -> Observable<StreamedResponse> {
    open(call, accept: accept, idle: idle).asObservable().flatMap { streamed -> Observable<StreamedResponse> in
      guard !streamed.response.isSuccess else { return .just(streamed) }
      return self.explained(streamed, patience).map { _ in streamed }
    }
  }

  /// Fails with the status and as much of the body as an envelope may have; for a success, gives the answer with that.
  func explained(
    _ streamed: StreamedResponse, _ patience: (any SchedulerType)? = nil
  ) -> Observable<Response> {
    // A body that breaks off, or never ends, explains as much as it has.
    var body = streamed.body.catchError { _ in .empty() }
    if let patience { body = body.timeout(.seconds(10), other: .empty(), scheduler: patience) }
    return body.scan(Data()) { $0 + $1 }.takeWhile { $0.count < 1 << 20 }.startWith(Data()).takeLast(1)
      .map { body in
        var response = streamed.response
        response.body = body
        return try response.reporting { try $0.validated() } ?? response
      }
  }
}

/// Makes models of the lines of a body.
private final class LineModels<Model: Decodable & Sendable>: Sendable {
  private let response: Response
  /// The body's thread; the parser is taken out and fed without the lock.
  private let state: Locked<(lines: LineParser, count: Int)>

  init(_ response: Response, _ limit: Int) {
    self.response = response
    state = Locked((LineParser(.lineFeed, limit: limit), 0))
  }

  /// - Throws: `NetworkError` with the number of the line.
  func read(_ chunk: Data, _ emit: @escaping (Model) -> Void) throws {
    try read(emit) { lines, take in try lines.feed(chunk, take) }
  }

  /// - Throws: `NetworkError` with the number of the line.
  func finish(_ emit: @escaping (Model) -> Void) throws {
    try read(emit) { lines, take in try lines.finish(take) }
  }

  private func read(
    _ emit: @escaping (Model) -> Void, _ read: (inout LineParser, (ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws {
    // Taken out, as decoding is the caller's code and runs without the lock; pieces come one at a time.
    var (lines, count) = state.withLock { $0 }
    defer { state.withLock { $0 = (lines, count) } }
    do {
      try read(&lines) { line in
        if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
          emit(try response.model(Model.self, ofPart: Data(line)))
        }
        count += 1
      }
    } catch {
      throw response.failure(error, inPart: count, named: "line")
    }
  }
}

extension Response {
  /// A model of a part of the body.
  func model<Model: Decodable>(_ type: Model.Type, ofPart bytes: Data) throws -> Model {
    var part = self
    part.body = bytes
    return try part.model(type, at: nil, failsOnEmptyData: true)
  }

  /// The error of a part of the body, with its number.
  func failure(_ error: any Error, inPart index: Int, named name: String) -> NetworkError {
    var known = (error as? NetworkError) ?? failure("\(name) \(index): \(error)", underlying: error)
    known.index = index
    return known
  }
}
