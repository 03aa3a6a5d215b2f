import PortableFoundation
import Streams

/// A directory of writes that are sent as soon as possible, even after the app was killed or its device restarted.
///
/// ```swift
/// let outbox = try Outbox(storingIn: directory, on: app)
/// outbox.results(of: AddNote.self).subscribe(onNext: { show($0.endpoint.text) })
/// outbox.start()
/// try outbox.send(AddNote(text: "tea"), lane: "notes")
/// ```
/// An entry is on disk when ``send(_:lane:)`` returns. Each attempt sends the same method, path, fields and body with
/// the same `Idempotency-Key`, by which the server detects a second request. The base URL, the backend's fields, the
/// token and the signature are those of the attempt.
///
/// An entry leaves after a status 2xx. After a temporary failure, it is sent again. A rejected one is parked: it waits for
/// ``retry(_:)`` or ``drop(_:)``. The guide "Writes that survive" has the table of all results.
///
/// Entries of one lane are sent in the order of `send`. A parked entry stops the later ones of its lane. Entries belong to
/// the ``/NetLayer/Token/account`` that is signed in at `send`, and are sent with no other user's token.
///
/// A success counts only if it is one of the entry's own request. A redirect is followed if it keeps the method and the
/// origin. A 303 within the origin is followed, too, as the response to the write (RFC 9110 §15.4.4). A status 2xx whose body
/// can't be read counts as accepted: ``results(of:)`` then has the error.
///
/// Several processes, such as an app and its extension, may use one directory: all of them add entries, and one at a time
/// sends.
public final class Outbox: Sendable {
  /// The maximum contents of an outbox. An entry beyond them is an error of ``Outbox/send(_:lane:)``.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of entries.
    public var maxEntries: Int
    /// The maximum number of bytes of all bodies and their descriptions, which are also in memory.
    public var maxSize: Int
    /// The maximum number of requests in flight.
    public var maxConcurrent: Int

    /// Creates limits. The defaults suffice for weeks without a network, in 50 MB; four requests share a connection
    /// fairly with the other calls of an app.
    public init(maxEntries: Int = 10_000, maxSize: Int = 50 << 20, maxConcurrent: Int = 4) {
      (self.maxEntries, self.maxSize, self.maxConcurrent) = (maxEntries, maxSize, maxConcurrent)
    }
  }

  private let network: Network
  private let directory: OutboxDirectory
  private let sender: OutboxSender
  private let reachability: any Reachability
  private let limits: Limits

  /// Opens the outbox in `directory`. It sends nothing before ``start()``.
  ///
  /// - Parameters:
  ///   - directory: A directory for this outbox only, created if it is missing. Not one for caches, which the system
  ///     empties.
  ///   - network: The network that sends the entries. Its backend's clock measures all delays, and `delivery` is the
  ///     scheduler of results.
  ///   - reachability: A monitor of the network. While it reports none, nothing is sent. A monitor that reports none
  ///     before the app is suspended keeps it from holding the directory's lock then.
  ///   - retry: The number of attempts until an entry is parked, and the delays. The default of 20 attempts takes up
  ///     to an hour. Attempts without a response are not counted. After a restart, counting starts at 0.
  ///   - limits: The maximum number and size of the entries.
  ///   - onProblem: A closure that receives errors of kind `file`, such as a damaged entry, which is set aside under a
  ///     name that starts with `damaged-`. It is called on any thread. By default it writes a line to standard error.
  /// - Throws: `NetworkError` of kind `file` if the directory can't be opened, or belongs to another user.
  public init(
    storingIn directory: URL, on network: Network, reachability: any Reachability = SystemReachability(),
    retry: RetryPolicy = RetryPolicy(attempts: 20, maxDelay: .seconds(300)), limits: Limits = Limits(),
    onProblem: @escaping @Sendable (NetworkError) -> Void = { StandardError.print($0.reason) }
  ) throws(NetworkError) {
    do {
      self.directory = try OutboxDirectory(directory) { network.isOnTransportThread }
    } catch {
      throw Self.failure("the directory \(directory.path) of the outbox can't be opened", error, network)
    }
    (self.network, self.reachability, self.limits) = (network, reachability, limits)
    let state = OutboxState(concurrency: limits.maxConcurrent, retry: retry)
    sender = OutboxSender(self.directory, network, state, onProblem: onProblem)
  }

  deinit { sender.stop() }

  /// Starts to send, including what an earlier run has left. Subscribe to the results first.
  ///
  /// The directory is read on the backend's `mapping` scheduler. Another call looks for entries that other processes have
  /// added: call it when the app becomes active.
  public func start() {
    network.runOnMappingQueue { [sender, reachability] in sender.start(reachability) }
  }

  /// Stores `endpoint` as encoded now. The entry is on disk when this function returns, and sent soon after ``start()``.
  ///
  /// It waits for two syncs of the disk, usually some milliseconds, and at most a second for another process that changes the
  /// directory. On the transport's thread, such as in a task on `CurlTransport.executor`, it does not wait for another
  /// process. Common parameters are stored, too. The time limits, priority and context of the call are ignored.
  ///
  /// If an entry with the call's own `Idempotency-Key` still exists, nothing is added, provided that account, method, URL
  /// and body are equal. Common parameters and multipart boundaries are not compared. If the entry is parked, it stays
  /// parked. With another content, the call is an error, because a server would not process it (draft
  /// ietf-httpapi-idempotency-key-header, §2.7).
  ///
  /// - Parameters:
  ///   - endpoint: The write. If it is `Encodable`, ``results(of:)`` returns it with its result.
  ///   - lane: The name of the lane, whose entries are sent in order; `nil` for an entry without an order.
  /// - Returns: The identity of the entry: its `Idempotency-Key`, or a digest of the account and a key that is not a UUID.
  /// - Throws: `NetworkError`; nothing is stored then. The kind is `encoding` for a file, a stream or a download, and
  ///   `file` for a full or read-only disk. It is `tooLarge` beyond the limits, and `authentication` if the user of
  ///   the token is unknown. It is `invalidRequest` for the key of another write, and for other calls that can't be sent.
  ///   It is `fileInUse` if another process changes the directory for longer than a second, because it was stopped there.
  @discardableResult
  public func send<E: Endpoint>(_ endpoint: E, lane: String? = nil) throws(NetworkError) -> UUID {
    let call: FrozenCall
    let account: String?
    var value: Data?
    do {
      call = try FrozenCall(endpoint, on: network)
      account = try self.account(of: call)
      if let endpoint = endpoint as? any Encodable { value = try JSONEncoder().encode(endpoint) }
    } catch {
      throw network.reading.report(network.reading.translated(NetworkError.wrapping(error)))
    }
    let type = value == nil ? nil : String(reflecting: E.self)
    let entry = OutboxEntry(
      call.id(of: account), call, account: account, lane: lane, createdAt: network.backend.clock.now, type: type,
      value: value)
    do {
      try store(entry)
    } catch {
      throw Self.failure("\(call.method) \(call.path) can't be stored in the outbox \(directory.path)", error, network)
    }
    return entry.id
  }

  private func store(_ entry: OutboxEntry) throws {
    // One step: another call with the same key would find no entry either. The code of subscribers runs afterwards.
    let added: (OutboxDirectory.File, [OutboxDirectory.File])?
    do {
      added = try directory.alone { try write(entry) }
    } catch let error as POSIXError where error.code == .EWOULDBLOCK {
      throw NetworkError(
        kind: .fileInUse,
        reason: "another process changes the outbox \(directory.path)"
          + (network.isOnTransportThread
            ? ", and the transport's thread does not wait for it; send again, or from another thread"
            : " for more than \(OutboxDirectory.patience.text); send again, and check that no process is stopped there"),
        underlying: error)
    }
    if let (file, others) = added { sender.add(entry, file, others) }
  }

  /// Writes `entry`, and returns its file, and those of the entries that others may have added; `nil` if it is stored already.
  private func write(_ entry: OutboxEntry) throws -> (OutboxDirectory.File, [OutboxDirectory.File])? {
    var others = try directory.refresh()
    // Only a new listing shows what other processes have sent or renamed meanwhile.
    let isGone = directory.file(of: entry.id).map { !directory.contains($0) } ?? false
    if others == nil, isGone || directory.count >= limits.maxEntries || directory.last?.number == .max {
      others = try directory.refresh(lists: true)
    }
    if let file = directory.file(of: entry.id), try isStored(entry, in: file) { return nil }
    guard directory.count < limits.maxEntries else { throw full("Limits.maxEntries is \(limits.maxEntries)") }
    // The next number after all entries, also those of other processes, so that the order is that of `send`.
    let last = directory.last
    let (number, isBeyond) = (last?.number ?? 0).addingReportingOverflow(1)
    guard !isBeyond else {
      let lastFile = last.flatMap { directory.file(of: $0.id)?.text ?? $0.text } ?? ""
      throw NetworkError(
        kind: .file, reason: "no entry can follow the file \(directory.path)/\(lastFile); remove it")
    }
    let hasRoom = sender.usage.withLock { usage in
      guard usage + entry.size <= limits.maxSize else { return false }
      usage += entry.size
      return true
    }
    guard hasRoom else { throw full("Limits.maxSize is \(limits.maxSize), and the entry has \(entry.size)") }
    let file = OutboxDirectory.File(name: OutboxName(number, entry.id), hold: nil)
    do {
      try directory.write(entry, as: file.name)
    } catch {
      sender.usage.withLock { $0 -= entry.size }
      throw error
    }
    return (file, others ?? [])
  }

  /// Returns whether `file` has the write of `entry`, which has the same key.
  private func isStored(_ entry: OutboxEntry, in file: OutboxDirectory.File) throws -> Bool {
    switch directory.read(file) {
    // Sent since the listing.
    case .gone, .damaged: return false
    case .unreadable(let error): throw error
    case .entry(let stored):
      guard !entry.isSame(as: stored) else { return true }
      let key = entry.call.headers["Idempotency-Key"] ?? ""
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "the Idempotency-Key \(key) belongs to the entry \(stored.id), \(stored.call.method) \(stored.call.path)"
          + "\(stored.account == entry.account ? "" : " of another account"), which has other content; use another key, or "
          + "drop that entry first")
    }
  }

  private func full(_ reason: String) -> NetworkError {
    NetworkError(
      kind: .tooLarge, reason: "the outbox \(directory.path) is full: \(reason); send again when entries have left it")
  }

  /// Returns the user as whom `call` is sent; `nil` if no source covers it whose user may change.
  private func account(of call: FrozenCall) throws -> String? {
    var request = try network.builder.request(for: call.content, accept: call.accept)
    if let failure = RequestCheck.failure(of: request, url: request.url.absoluteString) { throw failure }
    // The backend's own fields are not stored: each attempt adds them.
    guard call.headers["Authorization"] == nil else {
      throw NetworkError(
        kind: .invalidRequest,
        reason:
          "an outbox stores no credentials; use an AuthenticationInterceptor instead of the call's own Authorization",
        request: request)
    }
    network.captureContext(into: &request)
    guard let owner = network.accounts(of: request).owner else { return nil }
    guard let account = owner.name else {
      throw NetworkError(
        kind: .authentication,
        reason:
          "an outbox can't store a request whose user is unknown: sign in with a Token that has an account, and await "
          + "loadAccount() of the AuthenticationInterceptor, or of your AccountSource, before the first send",
        request: request)
    }
    return account
  }

  private static func failure(_ what: String, _ error: any Error, _ network: Network) -> NetworkError {
    let remedy = error is FolderError ? "choose another directory" : "check its owner and the free space"
    let known =
      error as? NetworkError
      ?? NetworkError(kind: .file, reason: "\(what): \(SystemError.text(of: error)); \(remedy)", underlying: error)
    return network.reading.report(network.reading.translated(known))
  }

  /// The entries in the order of `send`, emitted immediately and after each change.
  ///
  /// They arrive on the backend's `delivery` scheduler, or else on the thread of the change. Entries of other processes
  /// appear when this one sends or starts. Before ``start()``, those of an earlier run are missing. It neither fails nor
  /// completes.
  public var pending: Observable<[Entry]> {
    guard let delivery = network.backend.delivery else { return sender.pending }
    return sender.pending.observeOn(delivery)
  }

  /// The results: responses whose status and envelope report a success, and the errors of parked entries.
  ///
  /// Each is delivered at least once to those who have subscribed before ``start()``: the entry is removed or parked after
  /// the delivery, so that a killed app receives the result again. Afterwards, results are lost without a subscriber. They
  /// arrive on the backend's `delivery` scheduler, or else on `mapping`.
  public var results: Observable<Outcome> { sender.results.asObservable() }

  /// The endpoints of type `E` and their results, at least once, as with ``results``.
  ///
  /// Entries of another type are missing, such as a type that was renamed in a newer version of the app.
  public func results<E: Endpoint & Decodable>(of type: E.Type = E.self) -> Observable<EndpointOutcome<E>> {
    results.compactMap { [reading = network.reading] outcome in
      guard let endpoint = outcome.entry.endpoint(as: type) else { return nil }
      let result = outcome.result.flatMap { response in
        Result { try endpoint.read(response) }.mapError { reading.report($0, from: response) }
      }
      return EndpointOutcome(entry: outcome.entry, endpoint: endpoint, result: result)
    }
  }

  /// Sends an entry immediately that is parked or waits for its next attempt; its attempts count from 0. An entry whose
  /// rejection is being delivered is sent again after the delivery.
  ///
  /// - Returns: Whether there is an entry of this identity; it may have been sent meanwhile.
  /// - Throws: `NetworkError` of kind `fileInUse` if another process is sending.
  @discardableResult
  public func retry(_ id: UUID) throws(NetworkError) -> Bool { try change(id) { .retry($0) } }

  /// Removes an entry. If it is in flight, the request is cancelled, but the server may have applied it.
  ///
  /// - Returns: Whether there was an entry of this identity; it may have been sent meanwhile.
  /// - Throws: `NetworkError` of kind `fileInUse` if another process is sending.
  @discardableResult
  public func drop(_ id: UUID) throws(NetworkError) -> Bool { try change(id) { .drop($0) } }

  private func change(
    _ id: UUID, _ event: @escaping @Sendable (OutboxName) -> OutboxState.Event
  ) throws(NetworkError) -> Bool {
    do {
      try directory.takeLock()
    } catch {
      guard SystemError.code(of: error) == EWOULDBLOCK else {
        throw Self.failure("the outbox \(directory.path) can't be locked", error, network)
      }
      throw network.reading.report(
        network.reading.error(
          .fileInUse, "another process sends the entries of the outbox \(directory.path); change them there, or later"))
    }
    let isKnown = (try? directory.contains(id)) ?? false
    sender.change(id, event)
    return isKnown
  }
}
