import PortableFoundation
import Streams

extension Network {
  /// Uploads a file to an endpoint, and continues an earlier, interrupted upload. Emits the progress, then the result.
  ///
  /// ```swift
  /// app.transfer(film, to: .post("/films"), by: .tus)
  /// ```
  /// The server must support `method`. Disposing pauses the upload; a new subscription continues it, even in a later
  /// run of the program. The upload retries by itself, and `retry` counts the attempts since the last progress. After
  /// an error, a new subscription continues where the server has stopped, unless stated below.
  ///
  /// A note next to the file, `NAME-x….upload`, contains the URL of the upload, and at the end its result. It is removed
  /// one second after the subscriber has the result, or when the process exits. If the process is killed before that, the next
  /// subscription delivers the stored result again, without a request.
  ///
  /// Only the same call continues an upload. These must be equal:
  /// - the method, and the URL with its query, also the values that ``/NetLayer/Backend/redaction`` hides
  /// - the header fields of the endpoint and of the backend
  /// - the user (``/NetLayer/Token/account``, or the user in the URL) and the name of the file
  ///
  /// These are not compared:
  /// - `Authorization`, `Cookie`, and what interceptors add
  /// - signatures, such as `sign` and `X-Amz-Signature`, with the times and the temporary credentials of a signed query
  /// - the backend's common parameters
  /// - `Idempotency-Key`, `Date`, `User-Agent`, `If-…`, `Accept…`, and identifiers of traces and requests
  ///
  /// If one of these is a secret and differs, or the password in the URL, the stored result is not delivered. A `HEAD`
  /// asks the server instead, because the value may belong to another user.
  ///
  /// A time, a random value or a token elsewhere makes each upload start over. A token without an account is reported to
  /// the backend's `onError`: after a refresh, a later run starts over.
  ///
  /// A redirect is followed if it keeps the method and the origin, or if it is a 303 within the origin. Another one is an
  /// error with its status, because the success of another request says nothing about the upload.
  ///
  /// The result is the response to the last bytes. If it is lost, the result is the response to a `HEAD`, which has no
  /// body: use an endpoint whose result is a ``/HTTPTransport/Response`` or `Void`. Progress may step back, when the
  /// server has lost bytes.
  ///
  /// Errors, in addition to those of any call:
  /// - `fileInUse`: another subscription or process uploads the file to the same endpoint.
  /// - `unknownOutcome`: the server no longer knows an upload whose last bytes were sent. It may have the file. The
  ///   next subscription ends the same way, until ``cancelUpload(of:to:by:storingIn:)``.
  /// - `file`: the file has changed since the subscription, or the note can't be written.
  /// - `connection`: no attempt made progress.
  /// - `tooLarge`: the server does not accept a file of this size.
  /// - `parse`: the response has no upload, or an impossible offset.
  ///
  /// - Parameters:
  ///   - file: The file, which must not change until the upload ends.
  ///   - endpoint: The endpoint that creates the upload, without content.
  ///   - method: The protocol of the server.
  ///   - retry: The number of attempts without progress, and their delays. The default, 8, allows pauses of up to about
  ///     a minute in total. A server may request longer ones (`Retry-After`), up to a minute each.
  ///   - requestSize: The number of bytes of every request but the last, for a server that requires a minimum or multiples,
  ///     such as 5 MB or 256 KB. By default, one request has the whole file. After a cut or status 413, a request has a
  ///     multiple of 256 KB, or fewer bytes if the server accepts no more.
  ///   - directory: The directory of the note, which is created with mode 0700 if it is missing; `nil` for the directory of
  ///     the file. Files of the same name need different directories.
  /// - Returns: The events, one at a time, on the backend's `mapping` scheduler or on the thread that ends the upload.
  ///   Each subscription reads the start and the end of the file, up to 128 KB, on the subscribing thread.
  public func transfer<E: Endpoint>(
    _ file: URL, to endpoint: E, by method: UploadProtocol, retry: RetryPolicy = RetryPolicy(attempts: 8),
    requestSize: Int? = nil, storingIn directory: URL? = nil
  ) -> Observable<TransferEvent<E.Output>> {
    events(of: file, to: endpoint, by: method, retry: retry, requestSize: requestSize, storingIn: directory)
  }

  /// The events. With a receipt, the note remains until the task that takes the result ends the receipt.
  func events<E: Endpoint>(
    of file: URL, to endpoint: E, by method: UploadProtocol, retry: RetryPolicy, requestSize: Int? = nil,
    storingIn directory: URL?, receipt: UploadReceipt? = nil
  ) -> Observable<TransferEvent<E.Output>> {
    Observable<TransferEvent<E.Output>>.deferred { [self] in
      // Before the file is read, which takes time.
      let beginners = CallAccounts(accountSources)
      let source = try UploadFile(file)
      let begun = try UploadCalls(endpoint, file: file, size: source.version.size, by: method, on: self)
      return users(of: begun.request, begunBy: beginners).asObservable().flatMap {
        [self] accounts -> Observable<TransferEvent<E.Output>> in
        let calls = begun.belonging(to: accounts)
        let place = UploadNoteFile.url(for: file, in: directory, identity: calls.identity(of: accounts.text))
        let isDelivered = Flag()
        return Observable<TransferEvent<E.Output>>(push: { [self] subscription, next in
          do throws(NetworkError) {
            let notes = try UploadNoteFile(place)
            let note = try stored(notes)
            let receiver = UploadRun<E>.Receiver(
              endpoint: endpoint, subscription: subscription, next: next, isDelivered: isDelivered, receipt: receipt)
            let run = UploadRun(
              on: self, by: method, calls: calls, accounts: accounts, file: source, notes: notes, retry: retry,
              requestSize: requestSize, receiver: receiver)
            // Before the start, because the subscriber may dispose the upload in its first event.
            subscription.own(run)
            run.start(note)
          } catch {
            subscription.fail(error)
          }
        })
        .do(onNext: { if $0.result != nil { isDelivered.raise() } })
      }
    }
    .mapError { [reading] in reading.report($0) }
  }

  /// Uploads a file to an endpoint, continues an earlier upload, and returns the result. See
  /// ``transfer(_:to:by:retry:requestSize:storingIn:)``.
  ///
  /// ```swift
  /// try await app.upload(film, to: .post("/films"), by: .tus) { print($0.fractionSent ?? 0) }
  /// ```
  /// Cancelling the task pauses the upload. `progress` is called on the backend's `mapping` scheduler.
  ///
  /// - Throws: The upload's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func upload<E: Endpoint>(
    _ file: URL, to endpoint: E, by method: UploadProtocol, retry: RetryPolicy = RetryPolicy(attempts: 8),
    requestSize: Int? = nil, storingIn directory: URL? = nil, progress: ProgressHandler? = nil
  ) async throws(NetworkError) -> E.Output {
    let receipt = UploadReceipt()
    defer { receipt.end(isTaken: false) }
    let result = try await awaited(
      events(
        of: file, to: endpoint, by: method, retry: retry, requestSize: requestSize, storingIn: directory,
        receipt: receipt
      ), progress)
    receipt.end(isTaken: true)
    return result
  }

  /// Deletes an upload that was begun, at the server and here. An upload that is running in this process fails with
  /// `cancelled`.
  ///
  /// The endpoint must be the same as that of the upload. The file may be gone. It completes if there is no such upload,
  /// if the server does not support deletion (405, 501), and after every status that another attempt would not change:
  /// 4xx except 401, 408, 423, 425 and 429. Such a refusal is reported to the backend's `onError`, because the server may
  /// still have the upload. Otherwise, it fails, keeps the note, and can be repeated. It fails with `fileInUse` while another
  /// process runs the upload. A redirect is followed as in the upload.
  public func cancelUpload(
    of file: URL, to endpoint: some Endpoint, by method: UploadProtocol, storingIn directory: URL? = nil
  ) -> Completable {
    Observable<Never>.deferred { [self] in
      let beginners = CallAccounts(accountSources)
      let begun = try UploadCalls(endpoint, file: file, size: 0, by: method, on: self)
      return users(of: begun.request, begunBy: beginners).asObservable().flatMap {
        [self] accounts -> Observable<Never> in
        let calls = begun.belonging(to: accounts)
        let place = UploadNoteFile.url(for: file, in: directory, identity: calls.identity(of: accounts.text))
        UploadRegistry.shared[place.path]?()
        // A subscriber may dispose the call on another thread while its response arrives.
        let notes = Locked(try UploadNoteFile(place))
        guard let note = try notes.withLock({ try stored($0) }) else {
          notes.withLock { $0.end() }
          return .empty()
        }
        // The success of another request says nothing about the upload.
        let safe = with { $0.options.redirects = $0.options.redirects.ofWrites }
        return safe.response(to: calls.delete(note.url)).asObservable()
          .flatMap { response -> Observable<Never> in
            let reply = method.reply(response)
            let failure = response.statusFailure(in: response.reading.envelope.value)
            guard response.isSuccess || response.status == 501 || reply.isFinal else { throw failure }
            // Another attempt would be refused, too. The server may still have the upload.
            if reply.isFinal, !reply.isMissing, response.status != 405 { _ = self.reading.report(failure) }
            // Before the completion, because the next upload uses the note immediately.
            notes.withLock { $0.end() }
            return .empty()
          }
          .do(onError: { _ in notes.withLock { $0.letGo() } }, onDispose: { notes.withLock { $0.letGo() } })
      }
    }
    .mapError { [reading] in reading.report($0) }
    .asCompletable()
  }

  /// Returns the note, and reports a damaged one.
  private func stored(_ notes: UploadNoteFile) throws(NetworkError) -> UploadState.Note? {
    switch try notes.read() {
    case .none: return nil
    case .note(let note): return note
    case .damaged:
      _ = reading.report(reading.error(.file, "the note \(notes.path) is damaged, so that the upload starts over"))
      return nil
    }
  }

  /// Emits the users of the upload when they are known, and reports one without a name.
  private func users(of request: Request, begunBy beginners: CallAccounts?) -> Single<Accounts> {
    knownAccounts(of: request).map { [self] accounts in
      if let beginners, accounts.differ(from: beginners) { throw CallAccounts.signedOut(request) }
      guard accounts.unknown.isEmpty else {
        throw reading.error(
          .authentication,
          "the user of an upload to \(request.url.hostAndPort) is unknown after loadAccount() of its AccountSource; return "
            + "a known accountState, such as .nobody")
      }
      guard accounts.hasUnnamedUser else { return accounts }
      _ = reading.report(
        reading.error(
          .file,
          "the note of an upload to \(request.url.hostAndPort) is not found after a token refresh, because the user is "
            + "unknown; sign in with a Token that has an account"))
      return accounts
    }
  }
}
