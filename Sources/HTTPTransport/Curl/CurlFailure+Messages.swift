#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The errors of this package's own decisions: limits, rejected settings, incomplete responses.
  extension CurlFailure {
    /// Returns the reason that a request on a lost connection fails with.
    static func lost(_ handle: CurlHandle, _ code: CURLcode, _ obstacle: String) -> String {
      // libcurl's text for a second start only says that this package has prevented it.
      let cause = handle.wasRestarted || handle.attempt.isRefused ? "" : " (\(handle.errorMessage(code)))"
      let isKept = handle.isOnReusedConnection && handle.transfer?.mayMultiplex == false
      return "the \(isKept ? "reused " : "")connection was lost before the response\(cause); the request was not sent "
        + "again, because \(obstacle)"
        + (isKept ? "; if the server closes idle connections, set Configuration.maxIdleTime below its limit" : "")
    }

    /// Returns the error for an incomplete body that libcurl accepts as complete.
    static func incompleteBody(_ transfer: CurlTransfer, _ handle: CurlHandle, _ reason: String) -> NetworkError {
      NetworkError(
        kind: .connection,
        reason: incompleteBody(transfer.hostAndPort, handle, reason), request: transfer.request)
    }

    static func connectTimeout(_ transfer: some CurlOperation, _ handle: CurlHandle?) -> NetworkError {
      NetworkError(kind: .timeout, reason: connectTimeoutReason(transfer, handle), request: transfer.request)
    }

    static func connectTimeoutReason(_ transfer: some CurlOperation, _ handle: CurlHandle?) -> String {
      let proxy = handle?.route.map { " through the proxy \($0.place) of \($0.setting)" } ?? ""
      return "could not connect to \(transfer.hostAndPort)\(proxy) within Timeouts.connect "
        + "(\(transfer.request.timeouts.connect.text)); raise the limit or check the network"
    }

    /// Returns the error for a head that ended with the connection, which libcurl accepts as complete.
    static func incompleteHead(_ transfer: CurlTransfer) -> NetworkError {
      NetworkError(
        kind: .connection,
        reason: incompleteHead(transfer.hostAndPort),
        request: transfer.request)
    }

    static func incompleteHead(_ peer: String) -> String {
      "\(peer) closed the connection in the middle of the response header; try again"
    }

    static func timeout(_ transfer: CurlTransfer, _ limit: String, _ span: Duration?) -> NetworkError {
      let phase = transfer.handle == nil ? "while waiting for a connection" : "during the transfer"
      let meaning = limit == "Timeouts.attempt" ? "did not complete the response within" : "sent no data for"
      return NetworkError(
        kind: .timeout,
        reason:
          "\(transfer.hostAndPort) \(meaning) \(span.text) (\(limit), \(phase)); raise the limit or "
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

    /// Returns whether `code` means that this libcurl was built without an option.
    static func isUnknownOption(_ code: CURLcode) -> Bool { code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION }

    static func outOfMemory(_ transfer: some CurlOperation) -> NetworkError {
      NetworkError(
        kind: .connection, reason: "out of memory: libcurl could not create a transfer", request: transfer.request)
    }

    static func incompleteBody(_ host: String, _ handle: CurlHandle, _ cause: String? = nil) -> String {
      let received = ccurl_easy_get_int64(handle.easy, CURLINFO_SIZE_DOWNLOAD_T)
      let expected = ccurl_easy_get_int64(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
      let whole = expected >= 0 ? "of \(expected) bytes" : "bytes of unknown length"
      let reason = cause.map { " (\($0))" } ?? ""
      return "the body from \(host) is incomplete: received \(Swift.max(0, received)) \(whole)\(reason); try again"
    }
  }
#endif
