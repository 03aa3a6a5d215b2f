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
    var flights: [Int: SessionFlight] = [:]
    /// Those that are complete but for what a paused consumer has not taken.
    private var held: [ObjectIdentifier: SessionFlight] = [:]

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

    func submit(_ flight: SessionFlight) { queue.async { self.start(flight) } }

    func cancel(_ flight: SessionFlight) {
      queue.async {
        self.end(flight, Self.error(.cancelled, "the caller cancelled the request to \(flight.place)", flight))
      }
    }

    func resume(_ flight: SessionFlight) {
      queue.async { self.goOn(flight) }
    }

    func shutDown() {
      queue.async {
        guard let session = self.session else { return }
        // A task made after this would crash on Linux: `start` looks whether there is a session.
        self.session = nil
        for flight in Array(self.flights.values) + Array(self.held.values) {
          self.end(
            flight,
            Self.error(
              .cancelled, "the URLSessionTransport was shut down while the request to \(flight.place) was in flight",
              flight))
        }
        session.invalidateAndCancel()
      }
    }

    // MARK: On the queue

    private func start(_ flight: SessionFlight) {
      guard !flight.isFinished else { return }
      if let refusal = RequestCheck.failure(of: flight.request, url: flight.request.url.absoluteString) {
        flight.finish(.failure(refusal))
        return
      }
      if flight.request.options.httpVersion != .automatic {
        let reason = "URLSession chooses the version of HTTP itself; use CurlTransport, or HTTPVersion.automatic"
        flight.finish(.failure(Self.error(.invalidRequest, reason, flight)))
        return
      }
      run(flight)
      watch(flight)
    }

    /// Starts a task for the current hop.
    func run(_ flight: SessionFlight) {
      guard session != nil else { return refuse(flight) }
      flight.restart()
      switch flight.hop.body {
      case .parts, .stream: spool(flight)
      case .file(let file):
        do throws(NetworkError) {
          // Opened to look at it only: the session's own error for a file that is none is no clear one.
          let source = try BodySource(file: file, of: flight.hop)
          if let failure = RequestCheck.lengthFailure(of: flight.hop, length: source.count) { throw failure }
          upload(file, flight)
        } catch {
          end(flight, error)
        }
      case .none, .data:
        guard let session else { return }
        begin(session.dataTask(with: Self.urlRequest(flight)), flight)
      }
    }

    private func refuse(_ flight: SessionFlight) {
      let reason = "this URLSessionTransport was shut down before the request was sent; make a new one"
      flight.finish(.failure(Self.error(.cancelled, reason, flight)))
    }

    private func upload(_ file: URL, _ flight: SessionFlight) {
      guard let session else { return refuse(flight) }
      begin(session.uploadTask(with: Self.urlRequest(flight), fromFile: file), flight)
    }

    private func begin(_ task: URLSessionDataTask, _ flight: SessionFlight) {
      flight.task = task
      flights[task.taskIdentifier] = flight
      task.resume()
    }

    /// Writes the body to a file first, elsewhere, as that may take its time; a redirect finds it there.
    private func spool(_ flight: SessionFlight) {
      if let spool = flight.spool { return upload(spool.file, flight) }
      held[ObjectIdentifier(flight)] = flight
      // Kept by the flight, which stops it when the request ends before.
      flight.spooler = BodySpooler(flight.hop) { result in
        self.queue.async {
          guard !flight.isFinished else { return }
          self.held[ObjectIdentifier(flight)] = nil
          flight.spooler = nil
          switch result {
          case .success(let spool):
            flight.spool = spool
            flight.lastActivity = Deadline.now()
            self.upload(spool.file, flight)
            self.watch(flight)
          case .failure(let error): self.end(flight, error)
          }
        }
      }
    }

    /// Keeps a flight whose task has gone until it is finished.
    func hold(_ flight: SessionFlight) { held[ObjectIdentifier(flight)] = flight.isFinished ? nil : flight }

    func end(_ flight: SessionFlight, _ error: NetworkError) {
      let task = forget(flight)
      held[ObjectIdentifier(flight)] = nil
      flight.finish(.failure(error))
      task?.cancel()
    }

    func forget(_ flight: SessionFlight) -> URLSessionTask? {
      guard let task = flight.task else { return nil }
      flights[task.taskIdentifier] = nil
      flight.task = nil
      return task
    }

    /// URLSession on Linux rounds its limits to whole seconds and ignores the total one, so both are watched here.
    func watch(_ flight: SessionFlight) {
      guard !flight.isFinished else { return }
      let now = Deadline.now()
      let (reached, next) = flight.limit(at: now)
      flight.watch += 1
      if let reached {
        end(flight, reached)
      } else if next != Deadline.never {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(next - now))) {
          [weak self, weak flight, watch = flight.watch] in
          if let self, let flight, flight.watch == watch { self.watch(flight) }
        }
      }
    }

    private static func urlRequest(_ flight: SessionFlight) -> URLRequest {
      let request = flight.hop
      flight.cookiesSent = request.jarCookies
      var result = URLRequest(url: request.url)
      result.httpMethod = request.method.rawValue
      // Far beyond the limits watched here: a session's own limit must not be the first.
      result.timeoutInterval = 86_400
      result.httpShouldHandleCookies = false
      for field in request.headers { result.addValue(field.value, forHTTPHeaderField: field.name) }
      if let cookies = flight.cookiesSent { result.setValue(cookies, forHTTPHeaderField: "Cookie") }
      if case .data(let data) = request.body { result.httpBody = data }
      return result
    }

    static func error(
      _ kind: NetworkError.Kind, _ reason: String, _ flight: SessionFlight, _ underlying: (any Error)? = nil
    ) -> NetworkError {
      NetworkError(kind: kind, reason: reason, request: flight.request, underlying: underlying)
    }
  }
#endif
