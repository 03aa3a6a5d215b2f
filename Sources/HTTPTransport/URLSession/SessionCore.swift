#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// Session, delegate and the requests in flight.
  ///
  /// Everything happens on one serial queue, which is the delegate's too: on a concurrent one, `URLSession` hands out the
  /// pieces of a body in any order.
  // @unchecked Sendable: all state is touched on `queue` alone.
  final class SessionCore: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let queue = DispatchQueue(label: "NetLayer.URLSession")
    let maxBodySize: Int
    private var session: URLSession?
    var transfers: [Int: SessionTransfer] = [:]
    /// Those that are complete but for what a paused consumer has not taken.
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
        self.end(transfer, Self.error(.cancelled, "the caller cancelled the request to \(transfer.place)", transfer))
      }
    }

    func resume(_ transfer: SessionTransfer) {
      queue.async { self.goOn(transfer) }
    }

    func shutDown() {
      queue.async {
        guard let session = self.session else { return }
        // A task made after this would crash on Linux: `start` looks whether there is a session.
        self.session = nil
        for transfer in Array(self.transfers.values) + Array(self.held.values) {
          self.end(
            transfer,
            Self.error(
              .cancelled,
              "the URLSessionTransport was shut down while the request to \(transfer.place) was in transfer",
              transfer))
        }
        session.invalidateAndCancel()
      }
    }

    // MARK: On the queue

    private func start(_ transfer: SessionTransfer) {
      guard !transfer.isFinished else { return }
      if let refusal = RequestCheck.failure(of: transfer.request, url: transfer.request.url.absoluteString) {
        transfer.finish(.failure(refusal))
        return
      }
      if transfer.request.options.httpVersion != .automatic {
        let reason = "URLSession chooses the version of HTTP itself; use CurlTransport, or HTTPVersion.automatic"
        transfer.finish(.failure(Self.error(.invalidRequest, reason, transfer)))
        return
      }
      run(transfer)
      watch(transfer)
    }

    /// Starts a task for the current hop.
    func run(_ transfer: SessionTransfer) {
      guard session != nil else { return refuse(transfer) }
      transfer.restart()
      switch transfer.currentRequest.body {
      case .parts, .stream: spool(transfer)
      case .file(let file):
        do throws(NetworkError) {
          // Opened to look at it only: the session's own error for a file that is none is no clear one.
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

    private func refuse(_ transfer: SessionTransfer) {
      let reason = "this URLSessionTransport was shut down before the request was sent; make a new one"
      transfer.finish(.failure(Self.error(.cancelled, reason, transfer)))
    }

    private func upload(_ file: URL, _ transfer: SessionTransfer) {
      guard let session else { return refuse(transfer) }
      begin(session.uploadTask(with: Self.urlRequest(transfer), fromFile: file), transfer)
    }

    private func begin(_ task: URLSessionDataTask, _ transfer: SessionTransfer) {
      transfer.task = task
      transfers[task.taskIdentifier] = transfer
      task.resume()
    }

    /// Writes the body to a file first, elsewhere, as that may take its time; a redirect finds it there.
    private func spool(_ transfer: SessionTransfer) {
      if let spool = transfer.spool { return upload(spool.file, transfer) }
      held[ObjectIdentifier(transfer)] = transfer
      // Kept by the flight, which stops it when the request ends before.
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

    /// Keeps a flight whose task has gone until it is finished.
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

    /// URLSession on Linux rounds its limits to whole seconds and ignores the total one, so both are watched here.
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
      // Far beyond the limits watched here: a session's own limit must not be the first.
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
