#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The sessions, their delegate and the requests in flight.
  ///
  /// Everything runs on one serial queue, which is also the delegate's. On a concurrent queue, `URLSession` delivers
  /// the chunks of a body in any order.
  // @unchecked Sendable: all state is accessed only on `queue`.
  final class SessionCore: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let queue = DispatchQueue(label: "NetLayer.URLSession")
    let settings: SessionSettings
    /// The sessions: one for each pinned host, and one for all other hosts.
    private var sessions: [String: URLSession] = [:]
    private var isShutDown = false
    /// The transfers by task. The identifiers of tasks are unique only within a session.
    var transfers: [ObjectIdentifier: SessionTransfer] = [:]
    /// The transfers without a task: their body is being written to a file, or their consumer has paused.
    private var held: [ObjectIdentifier: SessionTransfer] = [:]

    init(_ settings: SessionSettings) { self.settings = settings }

    /// Creates the session of the hosts without pins, so that the first request does not have to.
    func open() {
      queue.sync { if settings.failure == nil { _ = session(in: "") } }
    }

    var maxBodySize: Int { settings.configuration.maxBodySize }

    // MARK: Called from any thread

    func submit(_ transfer: SessionTransfer) { queue.async { self.start(transfer) } }

    func cancel(_ transfer: SessionTransfer) {
      queue.async {
        self.end(
          transfer, Self.error(.cancelled, "the caller cancelled the request to \(transfer.hostAndPort)", transfer))
      }
    }

    func resume(_ transfer: SessionTransfer) {
      queue.async { self.proceed(transfer) }
    }

    func shutDown() {
      queue.async {
        // Creating a task afterwards would crash on Linux, so no session exists for later requests.
        self.isShutDown = true
        for transfer in Array(self.transfers.values) + Array(self.held.values) {
          self.end(
            transfer,
            Self.error(
              .cancelled,
              "the URLSessionTransport was shut down while the request to \(transfer.hostAndPort) was in flight",
              transfer))
        }
        for session in self.sessions.values { session.invalidateAndCancel() }
        self.sessions = [:]
      }
    }

    // MARK: On the queue

    private func start(_ transfer: SessionTransfer) {
      guard !transfer.isFinished else { return }
      if let failure = settings.failure { return transfer.finish(.failure(failure.about(transfer.request))) }
      if let failure = RequestCheck.failure(of: transfer.request, url: transfer.request.url.absoluteString) {
        transfer.finish(.failure(failure))
        return
      }
      if transfer.request.options.httpVersion != .automatic {
        let reason = "URLSession selects the HTTP version itself; use CurlTransport, or HTTPVersion.automatic"
        transfer.finish(.failure(Self.error(.invalidRequest, reason, transfer)))
        return
      }
      run(transfer)
      watch(transfer)
    }

    /// Returns the session for a URL; `nil` after the shutdown.
    private func session(for url: URL) -> URLSession? {
      guard !isShutDown else { return nil }
      #if canImport(Darwin)
        if let host = HostSpelling.host(of: url), settings.trust?.isolates(host) == true { return session(in: host) }
      #endif
      return session(in: "")
    }

    /// Returns the session of a pinned host, or of all other hosts. It is created for the first request.
    private func session(in place: String) -> URLSession {
      if let session = sessions[place] { return session }
      let session = settings.makeSession(delegate: self, queue: queue)
      sessions[place] = session
      return session
    }

    /// Starts a task for the current request.
    func run(_ transfer: SessionTransfer) {
      guard !isShutDown else { return failAfterShutdown(transfer) }
      transfer.restart()
      switch transfer.currentRequest.body {
      case .parts, .stream: spool(transfer)
      case .file(let file):
        do throws(NetworkError) {
          // Opens the file only as a check, because the session's error for a path that is not a file is unclear.
          let source = try BodySource(file: file, of: transfer.currentRequest)
          if let failure = RequestCheck.lengthFailure(of: transfer.currentRequest, length: source.count) {
            throw failure
          }
          upload(file, transfer)
        } catch {
          end(transfer, error)
        }
      case .none, .data:
        guard let session = session(for: transfer.currentRequest.url) else { return failAfterShutdown(transfer) }
        begin(session.dataTask(with: Self.urlRequest(transfer)), transfer)
      }
    }

    private func failAfterShutdown(_ transfer: SessionTransfer) {
      let reason = "this URLSessionTransport was shut down before the request was sent; create a new one"
      transfer.finish(.failure(Self.error(.cancelled, reason, transfer)))
    }

    private func upload(_ file: URL, _ transfer: SessionTransfer) {
      guard let session = session(for: transfer.currentRequest.url) else { return failAfterShutdown(transfer) }
      begin(session.uploadTask(with: Self.urlRequest(transfer), fromFile: file), transfer)
    }

    private func begin(_ task: URLSessionDataTask, _ transfer: SessionTransfer) {
      transfer.task = task
      transfer.taskStartedAt = Deadline.now()
      transfers[ObjectIdentifier(task)] = transfer
      task.resume()
    }

    /// Writes the body to a file first, on another queue, because that may take long. Redirects reuse the file.
    private func spool(_ transfer: SessionTransfer) {
      if let spool = transfer.spool { return upload(spool.file, transfer) }
      held[ObjectIdentifier(transfer)] = transfer
      // Retained by the transfer, which stops it if the request ends early.
      transfer.spooler = BodySpooler(transfer.currentRequest) { result in
        self.queue.async {
          guard !transfer.isFinished else { return }
          self.held[ObjectIdentifier(transfer)] = nil
          transfer.spooler = nil
          switch result {
          case .success(let spool):
            transfer.spool = spool
            transfer.lastActivity = Deadline.now()
            self.upload(spool.file, transfer)
            self.watch(transfer)
          case .failure(let error): self.end(transfer, error)
          }
        }
      }
    }

    /// Retains a transfer without a task until it is finished.
    func hold(_ transfer: SessionTransfer) { held[ObjectIdentifier(transfer)] = transfer.isFinished ? nil : transfer }

    func end(_ transfer: SessionTransfer, _ error: NetworkError) {
      let task = forget(transfer)
      held[ObjectIdentifier(transfer)] = nil
      transfer.finish(.failure(error))
      task?.cancel()
    }

    func forget(_ transfer: SessionTransfer) -> URLSessionTask? {
      guard let task = transfer.task else { return nil }
      transfers[ObjectIdentifier(task)] = nil
      transfer.task = nil
      return task
    }

    /// Enforces the time limits. URLSession on Linux rounds its limits to whole seconds and ignores that of an attempt.
    func watch(_ transfer: SessionTransfer) {
      guard !transfer.isFinished else { return }
      let now = Deadline.now()
      let (reached, next) = transfer.limit(at: now)
      transfer.watch += 1
      if let reached {
        end(transfer, reached)
      } else if next != Deadline.never {
        // Where `Int` has 32 bits, a later limit is checked every two seconds.
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: next - now))) {
          [weak self, weak transfer, watch = transfer.watch] in
          if let self, let transfer, transfer.watch == watch { self.watch(transfer) }
        }
      }
    }

    private static func urlRequest(_ transfer: SessionTransfer) -> URLRequest {
      let request = transfer.currentRequest
      var result = URLRequest(url: request.url)
      result.httpMethod = request.method.rawValue
      // Far above the limits of this transport, so that the session's limit never expires first.
      result.timeoutInterval = URLSessionTransport.Configuration.requestLimit
      result.httpShouldHandleCookies = false
      for field in request.headers { result.addValue(field.value, forHTTPHeaderField: field.name) }
      if let cookies = request.jarCookies { result.setValue(cookies, forHTTPHeaderField: "Cookie") }
      if case .data(let data) = request.body { result.httpBody = data }
      return result
    }

    static func error(
      _ kind: NetworkError.Kind, _ reason: String, _ transfer: SessionTransfer, _ underlying: (any Error)? = nil
    ) -> NetworkError {
      NetworkError(kind: kind, reason: reason, request: transfer.request, underlying: underlying)
    }
  }
#endif
