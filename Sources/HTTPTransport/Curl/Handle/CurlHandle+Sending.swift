#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlHandle {
    /// Records that libcurl is about to send the request. Returns `false` if it must not be sent.
    ///
    /// By default, libcurl would resend a request up to five times, even on dead connections. It never may: the loop
    /// decides whether to send a request again, and over which connection. A first start is refused if the connection
    /// must not be used, so that nothing is sent.
    func beginSending(from localPort: Int32) -> Bool {
      attempt.starts += 1
      guard attempt.starts == 1, let transfer else { return false }
      transfer.touch()
      attempt.sentAt = transfer.lastActivity
      let isNew = ccurl_easy_get_long(easy, CURLINFO_NUM_CONNECTS) > 0
      // A connection of a request that can be repeated is only examined after an event.
      let inspects = !isNew && !transfer.maySendTwice
      if inspects || transfer.mayMultiplex || attempt.address != nil || configuration.maxRequestsPerConnection != nil {
        noteConnection(localPort, isNew: isNew)
      }
      closeAtRequestLimit()
      attempt.isRefused = isUnfit(localPort, isNew: isNew, inspects: inspects)
      if attempt.isRefused {
        settings.needsReset = true
        set(CURLOPT_FORBID_REUSE, 1)
      } else {
        transfer.sends += 1
      }
      return !attempt.isRefused
    }

    /// Returns whether the request must not be sent over its connection: the server has closed it or has sent something
    /// that would be mistaken for the response, or the server may be closing it just now.
    private func isUnfit(_ localPort: Int32, isNew: Bool, inspects: Bool) -> Bool {
      // Without a port, as with a Unix domain socket, the unexpected input might belong to another connection.
      guard localPort > 0 || !isNew, let transfer else { return false }
      // Over HTTP/2, and inside TLS, input may belong to the protocol itself.
      let toleratesInput = transfer.mayMultiplex || (transfer.isSecure && !inspects)
      let idle = inspects && !transfer.mayMultiplex ? transfer.lane?.longestIdle ?? 0 : 0
      return ccurl_multi_is_unfit(multi, easy, connectionData, localPort, inspects, toleratesInput, idle)
    }

    private func noteConnection(_ localPort: Int32, isNew: Bool) {
      if case .unixSocket(let path) = attempt.address?.kind {
        ccurl_multi_note_file(multi, connectionData, path, isNew)
      } else {
        ccurl_multi_note_port(multi, connectionData, localPort)
      }
    }

    /// Closes the connection after this request if it has served the maximum number of requests.
    private func closeAtRequestLimit() {
      guard let limit = configuration.maxRequestsPerConnection else { return }
      guard ccurl_multi_count_use(multi, connectionData) >= limit else { return }
      settings.needsReset = true
      set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Whether libcurl has tried to send the request a second time.
    var wasRestarted: Bool { attempt.starts > 1 }

    func fate(_ code: CURLcode) -> CurlFate {
      CurlFate(
        code: code, starts: attempt.starts, isRefused: attempt.isRefused, status: response.status,
        isHeadComplete: response.isHeadComplete,
        isBodyComplete: response.hasNoBody || response.isComplete)
    }

    /// Whether the request was sent over a connection that had served another one. libcurl starts a request again only
    /// in this case, and if the server refuses an HTTP/2 stream.
    var isOnReusedConnection: Bool {
      wasRestarted || ccurl_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
    }
  }
#endif
