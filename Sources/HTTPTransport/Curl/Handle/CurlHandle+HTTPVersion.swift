#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlHandle {
    /// Sets the HTTP version of `transfer`.
    ///
    /// - Throws: An error if the request can't be sent with the version that its caller requires.
    func chooseVersion(_ transfer: CurlTransfer) throws(NetworkError) {
      if transfer.httpVersion == .http3, let obstacle = obstacleToHTTP3(transfer) {
        throw NetworkError(
          kind: .invalidRequest,
          reason:
            "HTTPVersion.http3 \(obstacle), so nothing was sent to \(transfer.hostAndPort); use HTTPVersion.automatic",
          request: transfer.request)
      }
      if transfer.isCleartextHTTP2 {
        settings.needsReset = true
        // Without a tunnel, an HTTP proxy would receive HTTP/1.1.
        set(CURLOPT_HTTPPROXYTUNNEL, 1)
      }
      let version = version(of: transfer)
      guard version != settings.chosenVersion else { return }
      settings.chosenVersion = version
      let code = set(CURLOPT_HTTP_VERSION, version)
      // The text is created only on failure, because it costs six allocations per request with libraries whose handles
      // are not reused.
      if code != CURLE_OK { require("HTTPVersion.\(transfer.httpVersion.kind)", code, .invalidRequest) }
      try checkSettings(transfer.request)
    }

    /// Returns the version as a libcurl constant. HTTP/1.1 is set explicitly. Otherwise, libcurl would also use a
    /// connection that already uses HTTP/2.
    private func version(of transfer: CurlTransfer) -> Int {
      switch transfer.httpVersion.kind {
      case .automatic, .http1: return CURL_HTTP_VERSION_1_1
      case .http2 where !transfer.isSecure: return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      case .http2: return transfer.isLastSend ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
      case .http3: return CURL_HTTP_VERSION_3ONLY
      }
    }

    /// Returns the reason why the current request can't use HTTP/3; `nil` if it can.
    private func obstacleToHTTP3(_ transfer: CurlTransfer) -> String? {
      guard transfer.isSecure else { return "needs an https URL" }
      if case .unixSocket = configuration.directory.address(of: transfer.currentRequest.url)?.kind {
        return "does not support Unix domain sockets"
      }
      switch configuration.proxy.kind {
      case .none: return nil
      case .url: return route.map { "does not work through the proxy \($0.place)" }
      case .environment: return "does not work through a proxy (ProxyOptions.environment)"
      }
    }
  }
#endif
