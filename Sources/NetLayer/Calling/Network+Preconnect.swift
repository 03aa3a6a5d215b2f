import PortableFoundation
import Streams

extension Network {
  /// Opens a connection to the origin of `url` ahead, so that the next call saves the round trips of DNS, TCP and TLS.
  ///
  /// It sends `HEAD /` without the backend's header fields, parameters, signature, cookies and interceptors, because
  /// libcurl and URLSession keep a connection only after a response. A connection that stays unused for
  /// `CurlTransport.Configuration.maxIdleTime` is closed.
  ///
  /// - Parameter url: A URL of the server; `nil` for the backend's base URL.
  /// - Returns: Work that completes when the server has responded, with any status. It fails with a `NetworkError` if
  ///   there is no connection, or, with the kind `invalidRequest`, if `url` and the base URL are `nil`.
  public func preconnect(to url: URL? = nil) -> Completable {
    guard let url = url ?? backend.currentURL, let root = URL(string: "/", relativeTo: url)?.absoluteURL else {
      return .error(
        reading.report(
          reading.error(.invalidRequest, "there is no server to connect to; pass a URL, or set Backend.baseURL")))
    }
    var request = Request(method: .head, url: root, timeouts: backend.timeouts)
    request.options = backend.options
    request.options.cookies = nil
    request.options.redirects = .none
    return with { $0.interceptors = [] }.send(request).asCompletable()
  }
}
