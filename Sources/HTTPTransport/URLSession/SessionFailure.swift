#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The translation of the session's errors to `NetworkError`s.
  enum SessionFailure {
    static func error(_ error: any Error, _ transfer: SessionTransfer) -> NetworkError {
      let host = transfer.hostAndPort
      guard let code = (error as? URLError)?.code else {
        return SessionCore.error(
          .connection, "the request to \(host) failed: \(error.localizedDescription)", transfer, error)
      }
      let (kind, reason) = meaning(of: code, host, transfer.currentRequest.url)
      return SessionCore.error(kind, "\(reason) (URLError \(code.rawValue))", transfer, withoutCredentials(error))
    }

    /// Returns the error of a WebSocket, which has no transfer.
    static func error(_ error: any Error, request: Request) -> NetworkError {
      let host = request.url.hostAndPort
      let code = (error as? URLError)?.code
      let (kind, reason) =
        code.map { meaning(of: $0, host, request.url) }
        ?? (.connection, "the socket to \(host) failed: \(error.localizedDescription)")
      return NetworkError(kind: kind, reason: reason, request: request, underlying: withoutCredentials(error))
    }

    /// Returns the error without the users and passwords of URLs and of a proxy. On Linux, its texts are libcurl's.
    static func withoutCredentials(_ error: any Error) -> any Error {
      guard let error = error as? URLError else { return error }
      var (shown, isChanged) = (error.userInfo, false)
      for (key, value) in error.userInfo {
        let text = (value as? URL)?.absoluteString ?? value as? String ?? ""
        let own = key == NSLocalizedDescriptionKey ? ProxyOptions.withoutCredentials(text) : text
        let plain = Redaction.withoutUsers(own)
        guard plain != text else { continue }
        (shown[key], isChanged) = (value is URL ? URL(text: plain) : plain, true)
      }
      guard isChanged else { return error }
      // It has the same texts.
      shown[NSUnderlyingErrorKey] = nil
      return URLError(error.code, userInfo: shown)
    }

    private static func meaning(of code: URLError.Code, _ host: String, _ url: URL) -> (NetworkError.Kind, String) {
      if let problem = problems[code] { return (problem.kind, problem.reason(ConnectionSides(server: host))) }
      return switch code {
      case .cancelled: (.cancelled, "URLSession cancelled the request to \(host)")
      case .timedOut: (.timeout, "the request to \(host) timed out at the URLSession's own limit")
      case .notConnectedToInternet: (.connection, "no network is available to reach \(host); check the network")
      case .cannotDecodeContentData, .cannotDecodeRawData, .cannotParseResponse:
        (.parse, "the response from \(host) is not valid; check the server")
      case .badURL: (.invalidRequest, "URLSession rejected the URL \(url.absoluteString)")
      case .httpTooManyRedirects: (.redirect, "too many redirects at \(host)")
      default: (.connection, "the request to \(host) failed")
      }
    }

    private static let problems: [URLError.Code: ConnectionProblem] = [
      .cannotFindHost: .unknownHost, .dnsLookupFailed: .unknownHost, .cannotConnectToHost: .refused,
      .networkConnectionLost: .lost, .secureConnectionFailed: .handshake,
      .serverCertificateHasBadDate: .expiredCertificate, .serverCertificateNotYetValid: .earlyCertificate,
      .serverCertificateUntrusted: .untrustedCertificate, .serverCertificateHasUnknownRoot: .untrustedCertificate,
      .clientCertificateRejected: .identityRefused, .clientCertificateRequired: .identityRequired,
      // Linux reports this for a response that is not HTTP. The URL's scheme has already been checked.
      .unsupportedURL: .notHTTP,
    ]

    /// Returns the error of an incomplete body, which a session on Linux accepts as complete.
    static func cutShort(_ transfer: SessionTransfer, _ response: HTTPURLResponse) -> NetworkError? {
      // On Linux, the session does not deliver the body of a redirect.
      guard transfer.currentRequest.method != .head, response.statusCode != 204,
        !(300..<400).contains(response.statusCode),
        response.value(forHTTPHeaderField: "Content-Encoding") == nil,
        // Chunked coding takes precedence over a Content-Length (RFC 9112 §6.3).
        response.value(forHTTPHeaderField: "Transfer-Encoding") == nil,
        let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int(digits: $0) }),
        transfer.received < length
      else { return nil }
      return SessionCore.error(
        .connection,
        "the body from \(transfer.hostAndPort) is incomplete: received \(transfer.received) of \(length) bytes; try again",
        transfer)
    }
  }
#endif
