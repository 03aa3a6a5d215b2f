import PortableFoundation
import Streams

extension Network {
  /// Downloads the response of `endpoint` into a file and resumes an earlier, interrupted download. Emits the progress,
  /// then the file.
  ///
  /// The bytes are written to `NAME.part` next to the destination; `NAME.part.json` identifies the version of the
  /// resource. When all bytes have arrived, the file moves to its destination in one step. An existing `NAME.part` that
  /// no download created is not touched, and the call fails with `file`.
  ///
  /// Disposing pauses the download; a new subscription resumes it, even in a later run of the program. Each
  /// subscription calls `endpoint` again, so URLs that expire are supported. After an error, the received bytes remain.
  ///
  /// Resuming requires a server that supports ranges and sends a strong `ETag` or a `Last-Modified` (`Range` with
  /// `If-Range`, RFC 9110 §13.1.5, §14.2). Otherwise, or if the resource has changed, the download restarts.
  ///
  /// A server that sends the file with a content coding causes an error of kind `parse`, unless the call has its own
  /// `Accept-Encoding`.
  ///
  /// - Parameters:
  ///   - destination: The file, in an existing directory. An existing file is replaced at the end.
  ///   - sha256: The expected digest of the file, 32 bytes. A different one is an error of kind `file`.
  ///   - endpoint: A closure that returns the endpoint to call, at each subscription.
  public func transfer(
    downloadingTo destination: URL, sha256: Data? = nil,
    requesting endpoint: @escaping @Sendable () throws -> any Endpoint
  ) -> Observable<TransferEvent<URL>> {
    Observable<TransferEvent<URL>>.using { [clock = backend.clock] in
      ResumableDownload(try PartialFile(resuming: destination), sha256: sha256, clock: clock)
    } observableFactory: { writer in
      // Release the file before the downstream receives the error, because a retry resumes the file immediately.
      self.attempt(writer, self.begun(CallContent(try endpoint())), mayRestart: true).do(onError: { _ in
        writer.dispose()
      })
    }
    .mapError { [reading] in reading.report($0) }
  }

  /// Downloads the response of `endpoint` into a file, like the overload whose closure returns an endpoint.
  public func transfer(
    downloading endpoint: some Endpoint, to destination: URL, sha256: Data? = nil
  ) -> Observable<TransferEvent<URL>> {
    let call = Call<Response>(CallContent(endpoint))
    return transfer(downloadingTo: destination, sha256: sha256) { call }
  }

  /// Downloads the response of `endpoint` into a file, resumes an earlier download, and returns the file. See
  /// ``transfer(downloadingTo:sha256:requesting:)``.
  ///
  /// ```swift
  /// try await network.download(.get("/file.zip"), to: file) { print($0.fractionReceived ?? 0) }
  /// ```
  /// Cancelling the task pauses the download. `progress` is called on the backend's `mapping` scheduler.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func download(
    _ endpoint: some Endpoint, to destination: URL, sha256: Data? = nil, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> URL {
    try await awaited(transfer(downloading: endpoint, to: destination, sha256: sha256), progress)
  }

  private func attempt(
    _ writer: ResumableDownload, _ content: CallContent, mayRestart: Bool
  ) -> Observable<TransferEvent<URL>> {
    var call = content
    let mayBeCoded = call.headers["Accept-Encoding"] != nil
    // A content coding would make the ranges refer to the coded bytes, not to the file.
    if !mayBeCoded { call.headers["Accept-Encoding"] = "identity" }
    avoidHTTP2(&call)
    for (name, value) in writer.conditions { call.headers[name] = value }
    return streamed(call).asObservable().flatMap { streamed -> Observable<TransferEvent<URL>> in
      switch try writer.begin(streamed.response, mayBeCoded: mayBeCoded) {
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
      case .restart where mayRestart: return self.attempt(writer, content, mayRestart: false)
      case .restart, .fail: return self.failure(of: streamed)
      }
    }
  }

  private func failure(of streamed: StreamedResponse) -> Observable<TransferEvent<URL>> {
    explained(streamed).flatMap { response -> Observable<TransferEvent<URL>> in
      throw response.parseFailure("the server responded to a download with status \(response.status) and no file")
    }
  }
}
