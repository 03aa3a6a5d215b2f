#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// A handle that opens the connection of a socket, and reads and writes it.
  extension CurlHandle {
    /// What came of reading or writing.
    enum Flow {
      case bytes(Int)
      /// The system takes or has nothing for now.
      case wait
      /// The connection has ended; reading alone finds that.
      case end
      case failure(Int32)
    }

    /// Ten years in seconds, which some versions count in milliseconds.
    private static let longestAge = 315_360_000

    /// Gets ready to connect to the host of `hop`, over the proxy and inside TLS as for any request.
    ///
    /// - Throws: the setting that libcurl does not take; nothing may be sent then.
    func prepareSocket(_ currentRequest: Request) throws(NetworkError) {
      opening = currentRequest
      errorText.pointee = 0
      if let refusal { throw refusal.about(currentRequest) }
      set(CCURL_URL, currentRequest.url.absoluteString)
      set(CCURL_CONNECT_ONLY, 1)
      // An HTTP proxy must not look into what follows, also without TLS.
      set(CCURL_HTTPPROXYTUNNEL, 1)
      set(CCURL_HTTP_VERSION, Int(CCURL_HTTP_VERSION_1_1))
      set(CCURL_FRESH_CONNECT, 1)
      set(CCURL_CONNECTTIMEOUT_MS, Self.milliseconds(0))
      // An open socket may be silent for longer than a connection is kept for requests.
      set(CCURL_MAXAGE_CONN, Self.longestAge)
      // It counts the requests on a connection, of which there is none.
      ccurl_easy_set_prereq_callback(easy, option(CCURL_PREREQFUNCTION), nil)
      if currentRequest.url.scheme?.lowercased() == "https", pin(currentRequest.url), let refusal {
        throw refusal.about(currentRequest)
      }
      if redirectConnection(of: currentRequest.url), let refusal { throw refusal.about(currentRequest) }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_receive(easy, buffer.baseAddress, buffer.count, &count)
      if code == 0 { return count > 0 ? .bytes(count) : .end }
      return code == Int32(CCURL_AGAIN) ? .wait : .failure(code)
    }

    /// Inside TLS, what has met `wait` must come again from the same address.
    func send(_ bytes: UnsafeRawBufferPointer) -> Flow {
      var count = 0
      let code = ccurl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
      if code == 0 { return count > 0 ? .bytes(count) : .wait }
      return code == Int32(CCURL_AGAIN) ? .wait : .failure(code)
    }
  }
#endif
