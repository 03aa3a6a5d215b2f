import PortableFoundation
import Streams

extension Network {
  /// Downloads what `endpoint` answers into a file, going on from where an earlier attempt ended; emits how far it is, and at
  /// last the file (article row 0.12).
  ///
  /// The bytes gather in `NAME.part` beside the destination, with a note of which version they are of in
  /// `NAME.part.json`. A `NAME.part` that no download made is left alone, and the call fails with `file`. When all have come, the file moves to its place in one step. Disposing pauses: subscribing again goes
  /// on, also in a later run of the program, and `endpoint` is asked anew each time, for URLs that expire. An error leaves
  /// what has come; `retry(_:)` behind this goes on from there.
  ///
  /// Going on takes a server that gives ranges and a strong `ETag` or a `Last-Modified` (`Range` with `If-Range`, RFC 9110
  /// §13.1.5, §14.2). Where there is none of that, or the resource has changed, the download begins anew. Several at once
  /// are `Observable.merge(maxConcurrent:)` of several.
  ///
  /// - Parameters:
  ///   - destination: the file; its directory must exist. One that is there is replaced at the end.
  ///   - sha256: the digest that the file must have: 32 bytes. Another is an error of kind `file`, and the bytes are removed.
  ///   - clock: what the rate is measured by.
  ///   - endpoint: what to call; asked at each subscription.
  public func download(
    to destination: URL, sha256: Data? = nil,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
    _ endpoint: @escaping @Sendable () throws -> any Endpoint
  ) -> Observable<Transfer<URL>> {
    Observable<Transfer<URL>>.using {
      ResumableDownload(try PartialFile(resuming: destination), sha256: sha256, clock: clock)
    } observableFactory: { writer in
      // Let go of before the error is heard of below: a retry goes on with the file at once.
      self.attempt(writer, try endpoint(), mayRestart: true).do(onError: { _ in writer.dispose() })
    }
    .mapError { [reading] in reading.report($0) }
  }

  /// Downloads what `endpoint` answers into a file: else as the form that asks for the endpoint anew.
  ///
  /// ```swift
  /// network.download(.get("/file.zip"), to: file)
  /// ```
  public func download(
    _ endpoint: some Endpoint, to destination: URL, sha256: Data? = nil,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) -> Observable<Transfer<URL>> {
    let call = Call(endpoint)
    return download(to: destination, sha256: sha256, clock: clock) { call }
  }

  private func attempt(
    _ writer: ResumableDownload, _ endpoint: any Endpoint, mayRestart: Bool
  ) -> Observable<Transfer<URL>> {
    var call = Call(endpoint)
    // A coding would make the ranges those of something else than the file.
    call.headers["Accept-Encoding"] = "identity"
    for (name, value) in writer.conditions { call.headers[name] = value }
    return open(call).asObservable().flatMap { streamed -> Observable<Transfer<URL>> in
      switch try writer.begin(streamed.response) {
      case .read:
        return Observable.create { observer in
          streamed.body.subscribe(
            onNext: { chunk in writer.write(chunk, to: observer) }, onError: { observer.onError($0) },
            onCompleted: { writer.finish(streamed.response, observer) })
        }
      case .isComplete:
        return Observable.create { observer in
          writer.finish(streamed.response, observer)
          return Disposables.create()
        }
      case .restart where mayRestart: return self.attempt(writer, endpoint, mayRestart: false)
      case .restart, .fail: return self.failure(of: streamed)
      }
    }
  }

  private func failure(of streamed: StreamedResponse) -> Observable<Transfer<URL>> {
    explained(streamed).flatMap { response -> Observable<Transfer<URL>> in
      throw response.failure("the server answered \(response.status) to a download, which is no file")
    }
  }
}
