#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The session, its delegate and the requests in flight.
  ///
  /// Everything runs on one serial queue, which is also the delegate's. On a concurrent queue, `URLSession` delivers
  /// the chunks of a body in any order.
  // @unchecked Sendable: all state is accessed only on `queue`.
  final class SessionCore: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let queue = DispatchQueue(label: "NetLayer.URLSession")
    let maxBodySize: Int
    private var session: URLSession?
    var transfers: [Int: SessionTransfer] = [:]
    /// The transfers without a task: their body is being written to a file, or their consumer has paused.
    private var held: [ObjectIdentifier: SessionTransfer] = [:]

    init(maxBodySize: Int) { self.maxBodySize = maxBodySize }

    func open(maxConnectionsPerHost: Int) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpMaximumConnectionsPerHost = Swift.max(1, maxConnectionsPerHost)
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.urlCache = nil
      configuration.urlCredentialStorage = nil
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      let operations = OperationQueue()
      operations.underlyingQueue = queue
      operations.maxConcurrentOperationCount = 1
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: operations)
      queue.sync { self.session = session }
    }

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
        guard let session = self.session else { return }
        // Creating a task afterwards would crash on Linux, so `start` checks whether the session still exists.
        self.session = nil
        for transfer in Array(self.transfers.values) + Array(self.held.values) {
          self.end(
            transfer,
            Self.error(
              .cancelled,
              "the URLSessionTransport was shut down while the request to \(transfer.hostAndPort) was in flight",
              transfer))
        }
        session.invalidateAndCancel()
      }
    }

    // MARK: On the queue

    private func start(_ transfer: SessionTransfer) {
      guard !transfer.isFinished else { return }
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

    /// Starts a task for the current request.
    func run(_ transfer: SessionTransfer) {
      guard session != nil else { return failAfterShutdown(transfer) }
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
        guard let session else { return }
        begin(session.dataTask(with: Self.urlRequest(transfer)), transfer)
      }
    }

    private func failAfterShutdown(_ transfer: SessionTransfer) {
      let reason = "this URLSessionTransport was shut down before the request was sent; create a new one"
      transfer.finish(.failure(Self.error(.cancelled, reason, transfer)))
    }

    private func upload(_ file: URL, _ transfer: SessionTransfer) {
      guard let session else { return failAfterShutdown(transfer) }
      begin(session.uploadTask(with: Self.urlRequest(transfer), fromFile: file), transfer)
    }

    private func begin(_ task: URLSessionDataTask, _ transfer: SessionTransfer) {
      transfer.task = task
      transfers[task.taskIdentifier] = transfer
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
      transfers[task.taskIdentifier] = nil
      transfer.task = nil
      return task
    }

    /// Enforces the time limits. URLSession on Linux rounds its limits to whole seconds and ignores the total limit.
    func watch(_ transfer: SessionTransfer) {
      guard !transfer.isFinished else { return }
      let now = Deadline.now()
      let (reached, next) = transfer.limit(at: now)
      transfer.watch += 1
      if let reached {
        end(transfer, reached)
      } else if next != Deadline.never {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(next - now))) {
          [weak self, weak transfer, watch = transfer.watch] in
          if let self, let transfer, transfer.watch == watch { self.watch(transfer) }
        }
      }
    }

    private static func urlRequest(_ transfer: SessionTransfer) -> URLRequest {
      let request = transfer.currentRequest
      transfer.cookiesSent = request.jarCookies
      var result = URLRequest(url: request.url)
      result.httpMethod = request.method.rawValue
      // Far above the limits of this transport, so that the session's limit never expires first.
      result.timeoutInterval = 86_400
      result.httpShouldHandleCookies = false
      for field in request.headers { result.addValue(field.value, forHTTPHeaderField: field.name) }
      if let cookies = transfer.cookiesSent { result.setValue(cookies, forHTTPHeaderField: "Cookie") }
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
