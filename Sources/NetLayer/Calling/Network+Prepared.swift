import PortableFoundation
import Streams

extension Network {
  /// Returns the URL that a call of `endpoint` requests, with its query and the backend's common parameters, and without a
  /// signature.
  ///
  /// ```swift
  /// print(try network.url(of: .get("/oauth/authorize", query: ["client_id": "reader"])))
  /// ```
  /// - Throws: `NetworkError` of kind `invalidRequest` or `encoding`, which is not passed to `Backend.onError`.
  public func url(of endpoint: some Endpoint) throws(NetworkError) -> URL {
    do {
      return try Self.checked(try builder.request(for: CallContent(endpoint), accept: endpoint.accept)).url
    } catch {
      throw reading.translated(NetworkError.wrapping(error))
    }
  }

  /// Returns the request that a call of `endpoint` sends now, with tokens, trace and signature, without sending it.
  ///
  /// ```swift
  /// print(try await network.preparedRequest(for: .get("/users/octocat")).curlCommand())
  /// ```
  /// Interceptors that change requests run, and an expired token is refreshed. Those that decide whether, when and how often a
  /// request is sent are bypassed: caching, coalescing, limits, retries and reachability. Observers see nothing. The transport
  /// adds its own fields later, such as `Host`, `User-Agent` and the cookies of a jar.
  ///
  /// - Throws: The error with which the call fails before it sends something; its kind is `cancelled` if the task is cancelled.
  public func preparedRequest(for endpoint: some Endpoint) async throws(NetworkError) -> Request {
    var call = CallContent(endpoint)
    let accept = endpoint.accept
    call.caching.invalidates = []
    let requests = Observable<Request>.create { [self, call] observer in
      let unsent = reading.error(.invalidRequest, "an interceptor responds itself, so that nothing would be sent")
      return Network(preparing: self) { observer.onNext($0) }.response(to: call, accept: accept)
        .subscribe(onSuccess: { _ in observer.onError(unsent) }, onError: observer.onError)
    }
    let request = try await awaited(requests.take(1).asSingle())
    do { return try Self.checked(request) } catch { throw reading.translated(error) }
  }

  /// Makes the checks of the transport.
  private static func checked(_ request: Request) throws(NetworkError) -> Request {
    if let failure = RequestCheck.failure(of: request, url: request.url.absoluteString) { throw failure }
    return request
  }
}
