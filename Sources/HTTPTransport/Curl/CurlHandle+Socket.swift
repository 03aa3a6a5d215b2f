#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The use of a handle for a socket: opening the connection, reading and writing.
  extension CurlHandle {
    /// The result of reading or writing.
    enum Flow {
      case bytes(Int)
      /// The call would block.
      case wait
      /// The connection has ended. Only reading detects this.
      case end
      case failure(Int32)
    }

    /// Ten years in seconds. Some versions convert the value to milliseconds.
    private static let longestAge = 315_360_000

    /// Prepares a connection to the host of `currentRequest`, with the same proxy and TLS settings as for any request.
    ///
    /// - Throws: An error that names the setting that libcurl does not accept. Nothing may then be sent.
    func prepareSocket(_ currentRequest: Request) throws(NetworkError) {
      opening = currentRequest
      errorText.pointee = 0
      set(url: currentRequest.url.absoluteString)
      set(CCURL_CONNECT_ONLY, 1)
      // An HTTP proxy must not interpret the data that follows, even without TLS.
      set(CCURL_HTTPPROXYTUNNEL, 1)
      set(CCURL_HTTP_VERSION, Int(CCURL_HTTP_VERSION_1_1))
      set(CCURL_FRESH_CONNECT, 1)
      set(CCURL_CONNECTTIMEOUT_MS, Self.milliseconds(Deadline.never))
      // An open socket may be idle for longer than the maximum age of a connection for requests.
      set(CCURL_MAXAGE_CONN, Self.longestAge)
      // The callback counts the requests on a connection. A socket has no requests.
      ccurl_easy_set_prereq_callback(easy, option(CCURL_PREREQFUNCTION), nil)
      if currentRequest.url.scheme?.lowercased() == "https" { pin(currentRequest.url) }
      redirectConnection(of: currentRequest.url)
      try checkSettings(currentRequest)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_receive(easy, buffer.baseAddress, buffer.count, &count)
      if code == 0 { return count > 0 ? .bytes(count) : .end }
      return code == Int32(CCURL_AGAIN) ? .wait : .failure(code)
    }

    /// Inside TLS, bytes that returned `wait` must be sent again from the same address.
    func send(_ bytes: UnsafeRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
      if code == 0 { return count > 0 ? .bytes(count) : .wait }
      return code == Int32(CCURL_AGAIN) ? .wait : .failure(code)
    }
  }
#endif
