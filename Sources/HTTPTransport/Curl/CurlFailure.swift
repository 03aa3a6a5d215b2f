#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The information that errors contain about a request: of a transfer, or of a socket that is opening.
  protocol CurlOperation {
    /// The caller's request.
    var request: Request { get }
    /// The request on the wire, and its URL as text.
    var currentRequest: Request { get }
    var currentURL: String { get }
    /// The host and port of the current request.
    var hostAndPort: String { get }
  }

  extension CurlOperation {
    /// Whether the current request uses TLS.
    var isSecure: Bool { currentURL.utf8.dropFirst(4).first.map { $0 | 0x20 == 0x73 } ?? false }
  }

  extension CurlTransfer: CurlOperation {}

  /// The translation of libcurl's error codes to `NetworkError`s (libcurl-errors(3)).
  enum CurlFailure {
    static func error(_ code: CURLcode, handle: CurlHandle, transfer: some CurlOperation) -> NetworkError {
      let underlying = CurlError(code: Int(code.rawValue), text: handle.errorMessage(code))
      let host = transfer.hostAndPort
      let said = "\(host): \(underlying.text)"
      func make(_ kind: NetworkError.Kind, _ reason: String) -> NetworkError {
        NetworkError(kind: kind, reason: reason, request: transfer.request, underlying: underlying)
      }
      if handle.answer.isTooLarge {
        return make(
          .tooLarge,
          "the body from \(host) is larger than \(handle.answer.maxBodySize) bytes; raise "
            + "Request.Options.maxBodySize, or CurlTransport.Configuration.maxBodySize for all requests")
      }
      if var failure = handle.attempt.bodyFailure {
        failure.request = transfer.request
        return failure
      }
      if let reason = handle.attempt.abortReason { return make(.connection, "\(host): \(reason)") }
      let proxy = handle.proxyPlace
      switch code {
      // Code 7 since libcurl 8.15.
      case _
      where [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR].contains(code) && tunnelStatus(handle) > 0
        && !(200..<300).contains(tunnelStatus(handle)):
        return make(
          .connection,
          "the proxy \(proxy ?? "") responded to CONNECT to \(host) with \(tunnelStatus(handle)); check "
            + "Configuration.proxy, including its user and password")
      case CURLE_WEIRD_SERVER_REPLY where handle.answer.status > 0:
        return make(
          .connection, "the response header from \(host) is not valid: \(underlying.text); check the server")
      case CURLE_UNSUPPORTED_PROTOCOL where !underlying.text.contains("not supported or disabled"),
        CURLE_WEIRD_SERVER_REPLY:
        return make(.connection, "\(host) did not respond with HTTP: \(underlying.text); check the port")
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
        return make(.invalidRequest, "libcurl rejected the URL \(transfer.currentURL): \(underlying.text)")
      case CURLE_COULDNT_RESOLVE_HOST:
        return make(
          .unknownHost,
          "the host \(transfer.currentRequest.url.host ?? "") can't be resolved; check its spelling and the network")
      case CURLE_COULDNT_CONNECT:
        if let limit = systemLimit(handle) { return make(.connection, "could not connect to \(said): \(limit)") }
        if let address = handle.address {
          return make(
            .connection,
            "could not connect to \(host) at \(address.text): \(underlying.text); check Configuration.addresses, and "
              + "that a server is listening there")
        }
        if let proxy {
          return make(
            .connection,
            "could not connect to \(host) through the proxy \(proxy): \(underlying.text); check "
              + "Configuration.proxy, and that a proxy is listening there")
        }
        return make(.connection, "could not connect to \(said); check that a server is listening there")
      case CURLE_PARTIAL_FILE where handle.answer.status >= 200:
        return make(.connection, cutShort(host, handle))
      case CURLE_OPERATION_TIMEDOUT:
        return connectTimeout(transfer, underlying)
      case _
      where [CURLE_OUT_OF_MEMORY, CURLE_TOO_LARGE].contains(code) && !handle.answer.isHeadComplete
        && handle.answer.status > 0:
        return make(
          .connection,
          "the response header from \(host) has a line longer than libcurl's limit of 100 KB, or is too "
            + "large in total; check the server")
      case CURLE_OUT_OF_MEMORY:
        return make(
          .connection,
          "libcurl has too little memory for the request to \(host), or the request header is too large; move "
            + "large values into the body")
      // GnuTLS reports a reset that it reads as 56.
      case _
      where (code == CURLE_SSL_CONNECT_ERROR && isHangUp(underlying.text))
        || (code == CURLE_RECV_ERROR && isInHandshake(transfer, handle)):
        // Not a verdict about a certificate: a server or balancer that restarts closes connections like this.
        return make(
          .connection,
          "\(proxy.map { "the proxy \($0) or " } ?? "")\(host) closed the connection during the TLS "
            + "handshake (\(underlying.text)); check that the port uses TLS, and what the server requires")
      case _
      where code == CURLE_SSL_CERTPROBLEM
        || ([CURLE_SSL_CONNECT_ERROR, CURLE_BAD_FUNCTION_ARGUMENT].contains(code)
          && underlying.text.contains("key file")):
        return make(
          .tls,
          "the client certificate or key can't be used for \(host): \(underlying.text); check the files and the "
            + "password of TLSOptions.identity")
      case CURLE_SSL_CACERT_BADFILE:
        return make(
          .tls,
          "the certificates of the CAs can't be read: \(underlying.text); check TLSOptions.trust, or install the system's CAs "
            + "(Debian: ca-certificates)")
      case CURLE_SSL_CONNECT_ERROR, CURLE_OBSOLETE51, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
        CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
        let isProxys = handle.connectedAt == nil && handle.isSecureProxy && tunnelStatus(handle) <= 0
        let target = isProxys ? "the proxy \(proxy ?? "") for \(host)" : host
        return make(
          .tls,
          "the TLS handshake with \(target) failed: \(underlying.text); check the certificate of the "
            + "\(isProxys ? "proxy" : "server"), or trust its CA with TLSOptions.trust")
      case CURLE_RECV_ERROR where isCertificateDemand(underlying.text):
        return make(
          .tls,
          "\(host) requires a client certificate or does not accept it: \(underlying.text); set one in TLSOptions.identity"
        )
      case CURLE_SEND_FAIL_REWIND:
        return make(
          .connection,
          "\(host) requested the body again, which can be sent only once; use a repeatable BodyStream")
      case CURLE_COULDNT_RESOLVE_PROXY:
        return make(.unknownHost, "the proxy's host can't be resolved; check Configuration.proxy")
      case CURLE_PROXY: return make(.connection, "the proxy \(proxy ?? "") rejected \(said); check Configuration.proxy")
      case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING:
        return make(.connection, "\(host) closed the connection without a response; \(remedy(transfer, handle))")
      case CURLE_HTTP2, CURLE_HTTP2_STREAM:
        return make(.connection, "HTTP/2 error with \(said) (libcurl error \(code.rawValue)); try again")
      case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
        return make(
          .connection,
          handle.answer.status >= 200
            ? "the connection was lost: \(cutShort(host, handle, underlying.text))"
            : "the connection to \(host) was lost before the response (\(underlying.text)); \(remedy(transfer, handle))"
        )
      case CURLE_QUIC_CONNECT_ERROR:
        return make(
          .connection,
          "could not connect with HTTP/3 to \(said); check that the server supports HTTP/3 on that UDP port, or use "
            + "HTTPVersion.automatic")
      case CURLE_BAD_CONTENT_ENCODING:
        return make(.connection, "the body from \(host) does not match its Content-Encoding; check the server")
      default: return make(.connection, "the request failed: \(said) (libcurl error \(code.rawValue))")
      }
    }

    /// Returns whether the text of OpenSSL or GnuTLS only reports that the connection was closed, without a reason.
    private static func isHangUp(_ text: String) -> Bool {
      [
        "ssl_error_syscall", "unexpected eof", "connection reset", "broken pipe",
        "connection was non-properly terminated",
      ]
      .contains(where: text.lowercased().contains)
    }

    /// Returns whether the connection to the server or the tunnel to it is established, but no request could be sent yet.
    private static func isInHandshake(_ transfer: some CurlOperation, _ handle: CurlHandle) -> Bool {
      guard handle.connectedAt == nil, transfer.isSecure else { return false }
      return handle.proxyPlace == nil || (200..<300).contains(tunnelStatus(handle))
    }

    /// Returns whether the server ended TLS 1.3 because a client certificate is missing. In TLS 1.3, this error arrives
    /// only after the handshake.
    private static func isCertificateDemand(_ text: String) -> Bool {
      ["certificate required", "bad certificate", "certificate unknown", "unknown ca", "fatal alert"]
        .contains(where: text.lowercased().contains)
    }

    /// Returns the remedy for a connection that ended before the response. Over TLS 1.3, a server that misses a client
    /// certificate closes the connection only after the handshake, and its alert may be lost with it.
    private static func remedy(_ transfer: some CurlOperation, _ handle: CurlHandle) -> String {
      let mayMissCertificate =
        transfer.isSecure && handle.configuration.tls.identity == nil && !handle.wasOnKeptConnection
      return mayMissCertificate
        ? "try again, or set TLSOptions.identity if the server requires a client certificate" : "try again"
    }

    /// Returns the description of the system limit that prevented a connection; `nil` if there was none.
    private static func systemLimit(_ handle: CurlHandle) -> String? {
      let code = handle.connectionData.pointee.socket_error
      guard code != 0 else { return nil }
      return "\(String(cString: strerror(code))); raise the limit, or lower Configuration.maxConnections"
    }

    /// Returns the reason that a request on a lost connection fails with.
    static func lost(_ handle: CurlHandle, _ code: CURLcode, _ obstacle: String) -> String {
      // libcurl's text for a second start only says that this package has prevented it.
      let cause = handle.wasToStartAgain || handle.attempt.isRefused ? "" : " (\(handle.errorMessage(code)))"
      let isKept = handle.wasOnKeptConnection && handle.transfer?.mayMultiplex == false
      return "the \(isKept ? "reused " : "")connection was lost before the response\(cause); the request was not sent "
        + "again, because \(obstacle)"
        + (isKept ? "; if the server closes idle connections, set Configuration.maxIdleTime below its limit" : "")
    }

    /// Returns the error for an incomplete body that libcurl accepts as complete.
    static func cutShort(_ transfer: CurlTransfer, _ handle: CurlHandle, _ reason: String) -> NetworkError {
      NetworkError(
        kind: .connection,
        reason: cutShort(transfer.hostAndPort, handle, reason), request: transfer.request)
    }

    static func connectTimeout(_ transfer: some CurlOperation, _ underlying: (any Error)? = nil) -> NetworkError {
      NetworkError(
        kind: .timeout,
        reason: "could not connect to \(transfer.hostAndPort) within Timeouts.connect "
          + "(\(transfer.request.timeouts.connect.text)); raise the limit or check the network",
        request: transfer.request, underlying: underlying)
    }

    /// Returns the error for a head that ended with the connection, which libcurl accepts as complete.
    static func headCutShort(_ transfer: CurlTransfer) -> NetworkError {
      NetworkError(
        kind: .connection,
        reason: "\(transfer.hostAndPort) closed the connection in the middle of the response header; try again",
        request: transfer.request)
    }

    static func timeout(_ transfer: CurlTransfer, _ limit: String, _ span: Duration?) -> NetworkError {
      let phase = transfer.handle == nil ? "while waiting for a connection" : "during the transfer"
      let meaning = limit == "idle" ? "sent no data for" : "did not complete the response within"
      return NetworkError(
        kind: .timeout,
        reason:
          "\(transfer.hostAndPort) \(meaning) \(span.text) (Timeouts.\(limit), \(phase)); raise the limit or "
          + "check the server",
        request: transfer.request)
    }

    /// Returns the error for a setting that libcurl does not accept, so that nothing may be sent.
    static func rejected(_ setting: String, _ kind: NetworkError.Kind, _ code: CURLcode) -> NetworkError {
      let text = ccurl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
      let library = CurlLibrary.capabilities.map { "\($0.version) with \($0.tls ?? "no TLS")" } ?? "?"
      let remedy =
        isUnknownOption(code)
        ? "remove it, or install a libcurl with OpenSSL (Debian: libcurl4)" : "check its value and its length"
      return NetworkError(
        kind: kind, reason: "libcurl \(library) does not accept \(setting) (\(text)), so nothing was sent; \(remedy)",
        underlying: CurlError(code: Int(code.rawValue), text: text))
    }

    /// Returns whether `code` means that this libcurl was built without an option: CURLE_NOT_BUILT_IN,
    /// CURLE_UNKNOWN_OPTION.
    static func isUnknownOption(_ code: CURLcode) -> Bool { code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION }

    static func outOfMemory(_ transfer: some CurlOperation) -> NetworkError {
      NetworkError(
        kind: .connection, reason: "libcurl could not create an easy handle: out of memory", request: transfer.request)
    }

    /// The status of a proxy's response to CONNECT; 0 without a tunnel.
    private static func tunnelStatus(_ handle: CurlHandle) -> Int {
      ccurl_easy_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE)
    }

    private static func cutShort(_ host: String, _ handle: CurlHandle, _ cause: String? = nil) -> String {
      let received = ccurl_easy_get_int64(handle.easy, CURLINFO_SIZE_DOWNLOAD_T)
      let expected = ccurl_easy_get_int64(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
      let whole = expected >= 0 ? "of \(expected) bytes" : "bytes of unknown length"
      let reason = cause.map { " (\($0))" } ?? ""
      return "the body from \(host) is incomplete: received \(Swift.max(0, received)) \(whole)\(reason); try again"
    }
  }
#endif
