import Foundation
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
  /// The next piece comes when the last has been dealt with, on the back end's `mapping` scheduler; who is slow makes the
  /// server wait. Disposing ends the request.
  public func stream(_ endpoint: some Endpoint) -> Observable<Data> { bodies(Call(endpoint)).flatMap(\.body) }

  /// Calls `endpoint` and emits a model of each line of the body, which is line-delimited JSON (NDJSON, JSON Lines).
  ///
  /// Blank lines are left out. A line that is no such model ends the stream with an error of kind `parse`, whose `index` is
  /// the number of the line, from 0; so does one of more than `maxLineLength` bytes. Back-pressure as in `stream`.
  public func lines<Model: Decodable & Sendable>(
    _ endpoint: some Endpoint, as type: Model.Type = Model.self, maxLineLength: Int = 1 << 20
  ) -> Observable<Model> {
    bodies(Call(endpoint), accept: "application/x-ndjson, application/json").flatMap { streamed in
      Observable.create { observer in
        let reader = LineModels<Model>(streamed.response, maxLineLength)
        return streamed.body.subscribe(
          onNext: { reader.read($0, to: observer) }, onError: { observer.onError($0) },
          onCompleted: { reader.finish(observer) })
      }
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

  func read(_ chunk: Data, to observer: AnyObserver<Model>) {
    read(observer) { lines, take in try lines.feed(chunk, take) }
  }

  func finish(_ observer: AnyObserver<Model>) {
    if read(observer, { lines, take in try lines.finish(take) }) { observer.onCompleted() }
  }

  /// `false` when it has failed.
  @discardableResult
  private func read(
    _ observer: AnyObserver<Model>, _ read: (inout LineParser, (ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) -> Bool {
    // Taken out, as decoding is the caller's code and runs without the lock; pieces come one at a time.
    var (lines, count) = state.withLock { $0 }
    defer { state.withLock { $0 = (lines, count) } }
    do {
      try read(&lines) { line in
        if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
          var part = response
          part.body = Data(line)
          observer.onNext(try part.model(Model.self, at: nil, failsOnEmptyData: true))
        }
        count += 1
      }
      return true
    } catch {
      var known = (error as? NetworkError) ?? response.failure("line \(count): \(error)", underlying: error)
      known.index = count
      observer.onError(known)
      return false
    }
  }
}
