#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// What a session's error means to the caller.
  enum SessionFailure {
    static func error(_ error: any Error, _ transfer: SessionTransfer) -> NetworkError {
      let place = transfer.place
      guard let code = (error as? URLError)?.code else {
        return SessionCore.error(
          .connection, "the exchange with \(place) failed: \(error.localizedDescription)", transfer, error)
      }
      let (kind, reason) = meaning(of: code, place, transfer.currentRequest.url)
      return SessionCore.error(kind, "\(reason) (URLError \(code.rawValue))", transfer, error)
    }

    /// The same for a WebSocket, which has no flight.
    static func error(_ error: any Error, request: Request) -> NetworkError {
      let place = request.url.hostAndPort
      let code = (error as? URLError)?.code
      let (kind, reason) =
        code.map { meaning(of: $0, place, request.url) }
        ?? (.connection, "the socket to \(place) failed: \(error.localizedDescription)")
      return NetworkError(kind: kind, reason: reason, request: request, underlying: error)
    }

    private static func meaning(of code: URLError.Code, _ place: String, _ url: URL) -> (NetworkError.Kind, String) {
      switch code {
      case .cancelled: (.cancelled, "the session cancelled the request to \(place)")
      case .timedOut: (.timeout, "the session gave up on \(place) at a limit of its own")
      case .cannotFindHost, .dnsLookupFailed:
        (.unknownHost, "the host \(url.host ?? "") can't be resolved; check its spelling and the network")
      case .cannotConnectToHost: (.connection, "no connection to \(place); check that a server listens there")
      case .networkConnectionLost:
        (.connection, "the connection to \(place) broke before the answer was complete; try again")
      case .notConnectedToInternet: (.connection, "there is no network to reach \(place)")
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired:
        (.tls, "TLS with \(place) failed; check the server's certificate")
      // Linux says so of an answer that is no HTTP; the URL's scheme has been checked before.
      case .unsupportedURL: (.connection, "what \(place) answered is no HTTP; check the port")
      case .badURL: (.invalidRequest, "the session refuses the URL \(url.absoluteString)")
      case .httpTooManyRedirects: (.redirect, "too many redirects at \(place)")
      default: (.connection, "the exchange with \(place) failed")
      }
    }

    /// On Linux a session reports a body that is shorter than announced as complete.
    static func cutShort(_ transfer: SessionTransfer, _ response: HTTPURLResponse) -> NetworkError? {
      // A redirect's body is not handed out on Linux.
      guard transfer.currentRequest.method != .head, response.statusCode != 204,
        !(300..<400).contains(response.statusCode),
        response.value(forHTTPHeaderField: "Content-Encoding") == nil,
        // Chunks count, and not a length beside them (RFC 9112 §6.3).
        response.value(forHTTPHeaderField: "Transfer-Encoding") == nil,
        let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) }),
        transfer.received < length
      else { return nil }
      return SessionCore.error(
        .connection, "body cut short by \(transfer.place): received \(transfer.received) of \(length) bytes; try again",
        transfer)
    }
  }
#endif
