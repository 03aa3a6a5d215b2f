#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// The decision whether a request may be sent, or sent again.
  extension CurlHandle {
    /// Records that libcurl is about to send the request. Returns `false` if it must not be sent.
    ///
    /// By default, libcurl would resend a request up to five times, even on dead connections. This package allows one
    /// resend over a new connection, if that is safe, and resends requests that the server has reported as unprocessed.
    /// The loop decides all other cases.
    ///
    /// The request is also not sent if the connection has unexpected input, which would be mistaken for its response,
    /// or if a reused connection has ended.
    func beginSending(from localPort: Int32) -> Bool {
      starts += 1
      stream = 0
      // The server may have processed the earlier start, unless it has reported otherwise, regardless of why this one fails.
      if starts > 1, !isStartUnprocessed { mayBeProcessed = true }
      transfer?.touch()
      sentAt = transfer?.lastActivity
      let connects = ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS))
      let isSecure = transfer?.isSecure == true
      let mayMultiplex = transfer?.mayMultiplex == true
      let isNew = connects > (starts > 1 ? connectsBefore : 0)
      if mayMultiplex || address != nil || configuration.maxRequestsPerConnection != nil {
        noteConnection(localPort, isNew: isNew)
      }
      if isSecure { ccurl_multi_watch_tls(multi, easy, connectionData) }
      retireIfWornOut()
      defer {
        connectsBefore = connects
        connectionBefore = connectionData.pointee.connection
      }
      // Without a port, as with a Unix domain socket, the unexpected input might belong to another connection.
      hasUnasked = (localPort > 0 || !isNew) && ccurl_multi_is_unfit(multi, localPort, mayMultiplex)
      if transfer?.isCleartextHTTP2 == true, !speaksHTTP2(isNew: isNew) { hasUnasked = true }
      guard starts > 1, let transfer else { return !hasUnasked }
      // For example when a server requires HTTP/1.1 in the middle of a response: two bodies would be merged.
      guard answer.status < 200 else { return false }
      if isStartUnprocessed {
        isStartUnprocessed = false
        unprocessedStarts += 1
        return unprocessedStarts <= CurlTransfer.maxUnprocessed && rewindBody()
      }
      guard starts == 2, transfer.obstacleToRepetition() == nil, rewindBody() else { return false }
      if connects > connectsBefore {
        transfer.isRepetition = true
        return true
      }
      return mayMultiplex && connectionData.pointee.connection != connectionBefore
    }

    /// Records the connection of the request.
    private func noteConnection(_ localPort: Int32, isNew: Bool) {
      if case .unixSocket(let path) = address {
        ccurl_multi_note_file(multi, connectionData, path, isNew)
      } else {
        ccurl_multi_note_port(multi, connectionData, localPort)
      }
    }

    /// Returns whether the connection uses HTTP/2 without TLS, as a new connection does. libcurl would also reuse an
    /// HTTP/1.1 connection and switch it to HTTP/2.
    private func speaksHTTP2(isNew: Bool) -> Bool {
      if isNew { ccurl_multi_note_http2(multi, connectionData) }
      return isNew || ccurl_multi_speaks_http2(multi, connectionData)
    }

    /// Rewinds the body. libcurl rewinds only if bytes of the body were sent. It drops bytes that it has read and could
    /// not send, for example because of flow control.
    private func rewindBody() -> Bool {
      guard hasBodyBegun else { return true }
      return pump.map { $0.rewind() } ?? body?.seek(to: 0) ?? true
    }

    /// Closes the connection after this request if it has served the maximum number of requests.
    private func retireIfWornOut() {
      guard let limit = configuration.maxRequestsPerConnection else { return }
      guard ccurl_multi_count_use(multi, connectionData) >= limit else { return }
      needsReset = true
      set(CCURL_FORBID_REUSE, 1)
      transfer?.loop.http2.noteRetired(connectionData.pointee.connection)
    }

    /// Whether libcurl has tried to send the request a second time, permitted or not.
    var wasToStartAgain: Bool { starts > 1 }

    /// Returns whether libcurl's `code` means that a reused connection was closed before any response except
    /// `100 Continue` arrived.
    func lostKeptConnection(_ code: Int32) -> Bool {
      guard answer.status < 200 else { return false }
      if wasToStartAgain || hasUnasked || isHeadUnsent { return true }
      var codes = [CCURL_GOT_NOTHING, CCURL_SEND_ERROR, CCURL_RECEIVE_ERROR]
      if transfer?.mayMultiplex == true { codes += [CCURL_HTTP2, CCURL_PARTIAL_FILE] }
      guard codes.contains(Int(code)) else { return false }
      return isExcluded || ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS)) == 0
    }

    /// Whether the server has not processed the request: the server reported that, or the request was not sent, or was
    /// sent without its body.
    var isUnprocessed: Bool { !mayBeProcessed && (hasUnasked || isExcluded || isStartUnprocessed || isHeadUnsent) }
  }
#endif
