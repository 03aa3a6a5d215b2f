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
  private let maxBodySize: Int
  private var session: URLSession?
  private var flights: [Int: SessionFlight] = [:]

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
      self.end(flight, Self.error(.cancelled, "the caller cancelled the request", flight))
    }
  }

  func shutDown() {
    queue.async {
      guard let session = self.session else { return }
      // A task made after this would crash on Linux: `start` looks whether there is a session.
      self.session = nil
      for flight in self.flights.values {
        self.end(
          flight,
          Self.error(.cancelled, "the URLSessionTransport was shut down while the request was in flight", flight))
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
    run(flight)
    watch(flight)
  }

  /// Starts a task for the current hop.
  private func run(_ flight: SessionFlight) {
    guard let session else {
      let reason = "this URLSessionTransport was shut down before the request was sent; make a new one"
      flight.finish(.failure(Self.error(.cancelled, reason, flight)))
      return
    }
    do {
      let task = session.dataTask(with: try Self.urlRequest(flight.hop))
      flight.response = nil
      flight.body = Data()
      flight.task = task
      flights[task.taskIdentifier] = flight
      task.resume()
    } catch {
      end(flight, error)
    }
  }

  private func end(_ flight: SessionFlight, _ error: NetworkError) {
    let task = forget(flight)
    flight.finish(.failure(error))
    task?.cancel()
  }

  private func forget(_ flight: SessionFlight) -> URLSessionTask? {
    guard let task = flight.task else { return nil }
    flights[task.taskIdentifier] = nil
    flight.task = nil
    return task
  }

  /// URLSession on Linux rounds its limits to whole seconds and ignores the total one, so both are watched here.
  private func watch(_ flight: SessionFlight) {
    guard !flight.isFinished else { return }
    let (reached, next) = flight.limit(at: .now())
    flight.watch += 1
    if let reached {
      end(flight, reached)
    } else if next != .distantFuture {
      queue.asyncAfter(deadline: next) { [weak self, weak flight, watch = flight.watch] in
        if let self, let flight, flight.watch == watch { self.watch(flight) }
      }
    }
  }

  private static func urlRequest(_ request: Request) throws(NetworkError) -> URLRequest {
    var result = URLRequest(url: request.url)
    result.httpMethod = request.method.rawValue
    // Far beyond the limits watched here: a session's own limit must not be the first.
    result.timeoutInterval = 86_400
    result.httpShouldHandleCookies = false
    for field in request.headers { result.addValue(field.value, forHTTPHeaderField: field.name) }
    switch request.body {
    case .none: break
    case .data(let data): result.httpBody = data
    case .file(let file):
      do {
        result.httpBody = try Data(contentsOf: file, options: .mappedIfSafe)
      } catch {
        throw NetworkError(
          kind: .invalidRequest, reason: "the body's file \(file.path) can't be sent: \(error.localizedDescription)",
          request: request, underlying: error)
      }
    }
    return result
  }

  static func error(
    _ kind: NetworkError.Kind, _ reason: String, _ flight: SessionFlight, _ underlying: (any Error)? = nil
  ) -> NetworkError {
    NetworkError(kind: kind, reason: reason, request: flight.request, underlying: underlying)
  }
}

// MARK: The delegate

extension SessionCore {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if let flight = flights[dataTask.taskIdentifier] {
      flight.lastActivity = .now()
      flight.response = response as? HTTPURLResponse
      // From here on the allowed silence is shorter.
      watch(flight)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let flight = flights[dataTask.taskIdentifier] else { return }
    flight.lastActivity = .now()
    guard data.count <= maxBodySize - flight.body.count else {
      let reason =
        "the body from \(flight.place) is larger than \(maxBodySize) bytes; raise "
        + "URLSessionTransport.Configuration.maxBodySize"
      end(flight, Self.error(.connection, reason, flight))
      return
    }
    flight.body.append(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { flights[task.taskIdentifier]?.lastActivity = .now() }

  // The session follows nothing: on Linux it loses the body on 307 and hands Authorization to other hosts.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    flights[task.taskIdentifier]?.response = response
    completionHandler(nil)
  }

  // No credentials are kept here: a 401 is an answer like any other. On Linux the session asks behind the body and
  // then never completes, so the answer is delivered from here.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      if let flight = flights[task.taskIdentifier] {
        if flight.response == nil { flight.response = challenge.failureResponse as? HTTPURLResponse }
        if flight.response != nil {
          _ = forget(flight)
          deliver(flight)
          task.cancel()
        }
      }
      completionHandler(.cancelAuthenticationChallenge, nil)
    #else
      completionHandler(.performDefaultHandling, nil)
    #endif
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let flight = flights[task.taskIdentifier] else { return }
    if flight.response == nil { flight.response = task.response as? HTTPURLResponse }
    _ = forget(flight)
    if let error {
      // Linux reports a connection closed in the body as an unknown error.
      let cut = flight.response.flatMap { SessionFailure.cutShort(flight, $0) }
      flight.finish(.failure(cut ?? SessionFailure.error(error, flight)))
    } else {
      deliver(flight)
    }
  }

  /// Passes a complete answer on, or goes to the next hop.
  private func deliver(_ flight: SessionFlight) {
    guard let http = flight.response else {
      flight.finish(
        .failure(Self.error(.connection, "\(flight.place) closed the connection without an answer; try again", flight)))
      return
    }
    if let cut = SessionFailure.cutShort(flight, http) {
      flight.finish(.failure(cut))
      return
    }
    let headers = Self.headers(http)
    switch RedirectPolicy.decide(
      original: flight.request, hop: flight.hop, status: http.statusCode, headers: headers, hops: flight.hops)
    {
    case .deliver:
      let response = Response(
        request: flight.request, url: flight.hop.url, status: http.statusCode, headers: headers, body: flight.body)
      flight.finish(.success(response))
    case .follow(let next):
      flight.hop = next
      flight.hops += 1
      run(flight)
    case .refuse(let error): flight.finish(.failure(error))
    }
  }

  /// Sorted, because a dictionary's order differs from run to run.
  private static func headers(_ response: HTTPURLResponse) -> HTTPHeaders {
    let fields = response.allHeaderFields.map { HTTPHeaders.Field(name: "\($0.key)", value: "\($0.value)") }
    return HTTPHeaders(fields.sorted { $0.name < $1.name })
  }
}
