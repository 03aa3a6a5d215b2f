#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlHandle {
    /// The result of reading or writing.
    enum Flow {
      case bytes(Int)
      case wait
      /// The connection has ended. Only reading detects this.
      case end
      case failure(CURLcode)
    }

    /// Ten years in seconds. Some versions convert the value to milliseconds.
    private static let longestAge = 315_360_000

    /// Prepares a connection to the host of `currentRequest`, with the same proxy and TLS settings as for any request.
    ///
    /// - Throws: An error that names the setting that libcurl does not accept. Nothing may then be sent.
    func prepareWebSocket(_ currentRequest: Request) throws(NetworkError) {
      attempt.opening = currentRequest
      errorText.pointee = 0
      set(url: currentRequest.url.absoluteString)
      let isSecure = currentRequest.url.scheme?.lowercased() == "https"
      if case .environment = configuration.proxy.kind { try chooseProxy(isSecure: isSecure) }
      set(CURLOPT_CONNECT_ONLY, 1)
      // An HTTP proxy must not interpret the data that follows, even without TLS.
      set(CURLOPT_HTTPPROXYTUNNEL, 1)
      set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
      set(CURLOPT_FRESH_CONNECT, 1)
      set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(Deadline.never))
      // An open WebSocket may be idle for longer than the maximum age of a connection for requests.
      set(CURLOPT_MAXAGE_CONN, Self.longestAge)
      // The callback counts the requests on a connection. A WebSocket has no requests.
      ccurl_easy_set_prereq_callback(easy, CURLOPT_PREREQFUNCTION, nil)
      if isSecure { pin(currentRequest.url) }
      redirectConnection(of: currentRequest.url)
      try checkSettings(currentRequest)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_receive(easy, buffer.baseAddress, buffer.count, &count)
      if code == CURLE_OK { return count > 0 ? .bytes(count) : .end }
      return code == CURLE_AGAIN ? .wait : .failure(code)
    }

    /// Inside TLS, bytes that returned `wait` must be sent again from the same address.
    func send(_ bytes: UnsafeRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
      if code == CURLE_OK { return count > 0 ? .bytes(count) : .wait }
      return code == CURLE_AGAIN ? .wait : .failure(code)
    }
  }
#endif
