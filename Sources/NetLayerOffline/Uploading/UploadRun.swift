import PortableFoundation
import Streams

/// An upload from a subscription to its end. It carries out the actions of its `UploadState`.
final class UploadRun<E: Endpoint>: Disposable {
  /// The subscription that receives the events. They never overlap.
  struct Receiver: Sendable {
    let endpoint: E
    let subscription: Subscription
    let next: @Sendable (TransferEvent<E.Output>) throws -> Void
    /// Raised when the subscriber has received the result.
    let isDelivered: Flag
    /// The task that takes the result; `nil` if the subscriber has taken it when it has received it.
    let receipt: UploadReceipt?
  }

  private struct Core {
    var state: UploadState
    let notes: UploadNoteFile
    /// The number of the request or pause in flight; others are over.
    var number = 0
    var last: Result<Response, NetworkError>?
    /// The error of the note's file.
    var failure: NetworkError?
    /// Whether the result is being delivered, and the note still needed.
    var isFinishing = false
    var isOver = false
  }

  private let network: Network
  /// The same network, whose handlers do not receive the errors of attempts that others follow.
  private let quiet: Network
  private let method: UploadProtocol
  private let calls: UploadCalls
  private let accounts: Accounts
  private let file: UploadFile
  private let policy: RetryPolicy
  private let receiver: Receiver
  private let path: String
  /// Guards the state and the note's file, which the drain and the queue that reads the file access. File system calls
  /// run under the lock, because they belong to one upload.
  private let core: Locked<Core>
  /// Serializes the events. The subscriber's code runs inside; events that it causes follow afterwards.
  private let drain = Drain()
  private let current = SerialDisposable()

  /// The number of bytes that are read at a time.
  private static var chunkSize: Int64 { 64 << 10 }
  /// The longest pause that a server may request.
  private static var maxPause: Duration { .seconds(60) }
  /// The maximum number of bytes of a request whose body is first copied to a temporary file.
  private static var maxSpool: Int64 { 16 << 20 }

  init(
    on network: Network, by method: UploadProtocol, calls: UploadCalls, accounts: Accounts, file: UploadFile,
    notes: sending UploadNoteFile, retry policy: RetryPolicy, requestSize: Int?, receiver: Receiver
  ) {
    (self.network, self.accounts) = (network, accounts)
    quiet = network.quiet {
      $0.timeouts.call = nil
      $0.options.redirects = $0.options.redirects.ofWrites
    }
    (self.method, self.calls, self.file, self.policy, self.receiver) = (method, calls, file, policy, receiver)
    path = notes.path
    let state = UploadState(
      method, file: file.version, attempts: max(1, policy.attempts),
      limit: network.transport is any SpoolingTransport ? Self.maxSpool : .max,
      size: requestSize.map { Int64(max(1, $0)) })
    core = Locked(Core(state: state, notes: notes))
  }

  /// Starts, or continues where the note says.
  func start(_ note: UploadState.Note?) {
    UploadRegistry.shared.insert(path, ObjectIdentifier(self)) { [weak self] in self?.cancel() }
    var note = note
    // Another user may ask for it, whom only a secret names.
    if let stored = note, stored.secrets != secrets(of: stored) { note?.response = nil }
    if let stored = note?.response { core.withLock { $0.last = .success(stored.response(to: calls.request)) } }
    post(.start(note), 0)
  }

  private func secrets(of note: UploadState.Note) -> String {
    calls.secrets(of: note.url, cookies: network.backend.options.cookies?.header(for: calls.request.url))
  }

  /// Pauses the upload, and releases the note for another subscription.
  func dispose() { _ = halt() }

  /// Ends the upload with an error of kind `cancelled`, and releases the note.
  private func cancel() {
    guard halt() else {
      // The subscriber has the result, so a task that is about to take it needs no note.
      receiver.receipt?.endIfHeld()
      return
    }
    let error = network.reading.error(.cancelled, "cancelUpload has ended the upload of \(file.url.path)")
    drain.run { [self] in receiver.subscription.finish(error) }
  }

  private func halt() -> Bool {
    let (wasRunning, isFinishing) = core.withLock { core in
      core.number += 1
      if !core.isFinishing { core.notes.letGo() }
      return (!exchange(&core.isOver, with: true) && !core.isFinishing, core.isFinishing)
    }
    current.dispose()
    // After the note is released: a run in the table has the note.
    if !isFinishing { UploadRegistry.shared.remove(path, ObjectIdentifier(self)) }
    return wasRunning
  }

  // MARK: Events

  private func post(_ event: UploadState.Event, _ number: Int, _ result: Result<Response, NetworkError>? = nil) {
    drain.run { [self] in
      perform(
        core.withLock { core in
          guard core.number == number else { return [] }
          if let result { core.last = result }
          return Self.advance(&core, event)
        })
    }
  }

  /// Changes the state, carries out the actions on the note, and returns all other actions.
  private static func advance(_ core: inout Core, _ event: UploadState.Event) -> [UploadState.Action] {
    var rest: [UploadState.Action] = []
    for action in core.state.handle(event) {
      switch action {
      case .save(let note):
        do throws(NetworkError) {
          try core.notes.save(note)
        } catch {
          core.failure = error
          let others = advance(&core, .unsaved)
          if !others.isEmpty { return rest + others }
        }
      case .forget: core.notes.forget()
      default: rest.append(action)
      }
    }
    return rest
  }

  // MARK: Inside the drain

  private func perform(_ actions: [UploadState.Action]) {
    for action in actions {
      switch action {
      case .save, .forget, .release: break
      case .create: if let number = nextNumber() { send(calls.create, number) }
      case .ask: if let url = upload, let number = nextNumber() { send(calls.ask(url), number) }
      case .send(let from, let count): append(from, count)
      case .stop: _ = nextNumber()
      case .terminate(let url):
        // Nobody waits for the response: the server deletes old uploads anyway.
        _ = quiet.response(to: calls.delete(url)).asObservable().subscribe(onError: { _ in })
      case .pause(let failures): pause(failures)
      case .show(let offset): show(offset)
      case .finish: finish()
      case .fail(let failure): fail(error(of: failure))
      }
    }
  }

  private var upload: URL? { core.withLock { $0.state.note?.url } }

  /// Ends the request or pause in flight, and returns the number of the next one; `nil` after a disposal, which the
  /// subscriber may cause while it receives an event.
  private func nextNumber() -> Int? {
    let number = core.withLock { core -> Int? in
      core.number += 1
      return core.isOver ? nil : core.number
    }
    current.disposable = Disposables.create()
    return number
  }

  private func send(_ call: CallContent, _ number: Int, showsProgressFrom offset: Int64? = nil) {
    guard !network.accounts(of: calls.request).differs(from: accounts) else {
      let error = network.reading.error(
        .authentication, "another user has signed in during the upload of \(file.url.path)")
      return post(.refused, number, .failure(error))
    }
    do throws(NetworkError) {
      try core.withLock { core throws(NetworkError) in try core.notes.keepLock() }
    } catch {
      return post(.refused, number, .failure(error))
    }
    let progress = offset.map { offset -> ProgressHandler in
      { [self] progress in drain.run { [self] in show(offset + progress.sent, number) } }
    }
    current.disposable = quiet.response(to: call, accept: calls.request.headers["Accept"], progress: progress)
      .subscribe(
        onSuccess: { [self] response in post(.reply(method.reply(response)), number, .success(response)) },
        onError: { [self] error in
          let error = NetworkError.wrapping(error)
          let event: UploadState.Event = error.kind == .unavailable ? .unsent : error.isTransient ? .lost : .refused
          post(event, number, .failure(error))
        })
  }

  private func show(_ offset: Int64, _ number: Int) {
    if core.withLock({ $0.number == number }) { show(offset) }
  }

  private func show(_ offset: Int64) {
    let progress = TransferProgress(sent: offset, sendTotal: file.version.size)
    receiver.subscription.deliverIfActive(.progress(progress), to: receiver.next)
  }

  private func append(_ from: Int64, _ count: Int64) {
    guard let url = upload, let number = nextNumber() else { return }
    let (isLast, timeouts) = (from + count == file.version.size, network.backend.timeouts)
    let replacesPatch = core.withLock { $0.state.replacesPatch }
    guard count > 0 else {
      guard mayRelease(number) else { return }
      return send(
        calls.append(to: url, from: from, isLast: isLast, nil, timeouts: timeouts, replacesPatch: replacesPatch), number
      )
    }
    // Weak, because the response has the request with this body: it would keep the file and its directory open.
    let body = Request.BodyStream(count: count) { [weak self] in
      guard let self else { throw NetworkError(kind: .cancelled, reason: "the upload has ended") }
      let place = Cell(from)
      return { try self.chunk(place, until: from + count, number) }
    }
    send(
      calls.append(to: url, from: from, isLast: isLast, body, timeouts: timeouts, replacesPatch: replacesPatch), number,
      showsProgressFrom: from)
  }

  private func pause(_ failures: Int) {
    guard let number = nextNumber() else { return }
    let error = lastError ?? network.reading.error(.connection, "no response")
    guard var pause = policy.delay(after: error, attempt: failures) else { return post(.refused, number) }
    let clock = policy.scheduler ?? network.backend.clock
    if let requested = error.retryAfter(now: clock.now) { pause = max(pause, min(requested, Self.maxPause)) }
    current.disposable = Observable<Int>.timer(pause, scheduler: clock)
      .subscribe(onNext: { [self] _ in post(.resumed, number) })
  }

  /// Stores the result, then delivers it. The note remains for a while: a process that is killed in between delivers it
  /// again.
  private func finish() {
    let last = core.withLock { core in
      core.isFinishing = !core.isOver
      if core.isFinishing, case .success(let response) = core.last, var note = core.state.note {
        note.response = UploadState.Finished(response, hiding: network.backend.redaction)
        note.secrets = secrets(of: note)
        // Without it, the next run asks the server.
        if note.response != nil { try? core.notes.save(note) }
      }
      return core.isFinishing ? core.last : nil
    }
    guard case .success(let response) = last else { return }
    var (isDelivered, failure) = (true, NetworkError?.none)
    do { isDelivered = try deliver(response) } catch { failure = .wrapping(error) }
    if isDelivered, failure == nil, let receipt = receiver.receipt {
      receipt.hold { [self] isTaken in isTaken ? closeLater() : close(forgetting: false) }
    } else {
      isDelivered ? closeLater() : close(forgetting: false)
    }
    receiver.subscription.finish(failure)
  }

  /// Removes the note when the app has had the time to record the result.
  private func closeLater() {
    UploadRegistry.shared.keep(path, on: network.backend.clock) { [self] in close(forgetting: true) }
  }

  /// Emits the result. Returns whether the subscriber has received it.
  private func deliver(_ response: Response) throws -> Bool {
    var response = response
    response.context[ResponseContext.self] = network.reading
    if !calls.invalidated.isEmpty { network.invalidate(.tags(calls.invalidated)) }
    let result = try receiver.endpoint.read(try response.validated())
    receiver.subscription.deliverIfActive(.result(result), to: receiver.next)
    return receiver.isDelivered.isRaised
  }

  private func fail(_ error: NetworkError) {
    // Before the subscriber receives the error, because a new subscription uses the note immediately.
    close(forgetting: false)
    if error.kind == .unknownOutcome, !calls.invalidated.isEmpty { network.invalidate(.tags(calls.invalidated)) }
    receiver.subscription.finish(error)
  }

  private func close(forgetting: Bool) {
    core.withLock { core in
      // A disposal has released the note, which may belong to another subscription now.
      guard !core.isOver || core.isFinishing else { return }
      if forgetting { core.notes.forget() }
      core.notes.letGo()
      core.isOver = true
    }
    UploadRegistry.shared.remove(path, ObjectIdentifier(self))
  }

  // MARK: The queue that reads the file

  /// Returns the next bytes of a request. The last ones of the file are returned after the note says so.
  private func chunk(_ place: Cell<Int64>, until end: Int64, _ number: Int) throws -> Data? {
    let offset = place.value
    guard offset < end else { return nil }
    let count = min(Self.chunkSize, end - offset)
    let bytes = file.bytes(from: offset, count: Int(count))
    place.value = offset + count
    // Checked after reading, so that the bytes belong to this version.
    guard let bytes, file.isUnchanged else {
      post(.changed, number)
      throw Self.changed(file.url)
    }
    if offset + count == file.version.size, !mayRelease(number) { throw Self.changed(file.url) }
    return bytes
  }

  /// Returns whether the last byte may leave, after the note says so.
  private func mayRelease(_ number: Int) -> Bool {
    let event = file.isUnchanged ? UploadState.Event.lastChunk : .changed
    let actions = core.withLock { core in core.number == number ? Self.advance(&core, event) : [] }
    if actions == [.release] { return true }
    if !actions.isEmpty { drain.run { [self] in perform(actions) } }
    return false
  }

  private static func changed(_ file: URL) -> NetworkError {
    NetworkError(kind: .file, reason: "the file \(file.path) has changed during the upload; upload it again")
  }

  // MARK: Errors

  /// The error of the last request, or of its response.
  private var lastError: NetworkError? {
    switch core.withLock({ $0.last }) {
    case .failure(let error): return error.unreported
    case .success(var response):
      response.context[ResponseContext.self] = network.reading
      return response.statusFailure(in: network.backend.envelope)
    case nil: return nil
    }
  }

  /// The same, with the remedy for an upload that its server refuses to continue.
  private var rejection: NetworkError? {
    guard var error = lastError else { return nil }
    if let remedy = error.response.flatMap(method.versionRemedy) { error.reason += remedy }
    let refusal = error.response.map { method.reply($0) }
    if core.withLock({ $0.state.note != nil }), refusal?.isFinal == true {
      error.reason += "; call cancelUpload to remove its note and start over"
    }
    return error
  }

  private func error(of failure: UploadState.Failure) -> NetworkError {
    let (last, noteFailure) = core.withLock { ($0.last, $0.failure) }
    let (size, place) = (file.version.size, "\(calls.request.method) \(calls.request.url.hostAndPort)")
    func error(_ kind: NetworkError.Kind, _ reason: String, underlying: NetworkError? = nil) -> NetworkError {
      let response: Response? = if case .success(let response) = last { response } else { nil }
      var error = network.reading.error(kind, reason, response: response, underlying: underlying)
      error.request = error.request ?? calls.request
      return error
    }
    switch failure {
    case .response: return rejection ?? error(.other, "the upload has ended without a response")
    case .notSupported:
      return error(
        .parse,
        "\(place) responded without the Location of an upload, so it does not support \(method.name); check the "
          + "URL and the protocol")
    case .refusedLocation(let reason): return error(.redirect, "\(place) created an upload that is not used: \(reason)")
    case .offset(let offset):
      return error(.parse, "the server reports that it has \(offset) bytes of an upload of \(size) bytes")
    case .incomplete:
      return error(.parse, "the server reports that the upload is complete, but its last bytes were not sent")
    case .exhausted:
      return error(
        .connection,
        "\(max(1, policy.attempts)) attempts to upload \(file.url.path) made no progress; subscribe again to "
          + "continue", underlying: lastError)
    case .unknownOutcome:
      return error(
        .unknownOutcome,
        "the server no longer knows the upload of \(file.url.path), whose last bytes were sent; check "
          + "whether it has the file, then call cancelUpload to upload it again")
    case .tooLarge(let limit):
      return error(.tooLarge, "\(file.url.path) has \(size) bytes, but the server accepts at most \(limit)")
    case .changedFile: return Self.changed(file.url)
    case .note: return noteFailure ?? error(.file, "the note \(path) can't be written")
    }
  }
}
