#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// The decision whether a request may be sent, or sent again.
  extension CurlHandle {
    /// Records that libcurl is about to send the request. Returns `false` if it must not be sent.
    ///
    /// libcurl by itself would resend a request up to five times, even on dead connections. Here it may resend once
    /// over a new connection, if that is safe, and also after the server has refused the request unprocessed. The loop
    /// decides all other cases.
    ///
    /// The request is also not sent if the connection has unexpected input, which would be taken for its response, or
    /// if a reused connection has ended.
    func beginSending(from localPort: Int32) -> Bool {
      starts += 1
      stream = 0
      // An earlier start without a refusal may have been processed, whatever stops this one.
      if starts > 1, !isRefused { mayBeProcessed = true }
      transfer?.touch()
      sentAt = transfer?.lastActivity
      let connects = ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS))
      let isSecure = transfer?.isSecure == true
      let mayMultiplex = transfer?.mayMultiplex == true
      let isNew = connects > (starts > 1 ? connectsBefore : 0)
      if mayMultiplex || address != nil || configuration.maxRequestsPerConnection != nil {
        noteConnection(localPort, isNew: isNew)
      }
      if isSecure { ccurl_multi_watch_tls(multi, easy, place) }
      retireIfWornOut()
      defer {
        connectsBefore = connects
        connectionBefore = place.pointee.connection
      }
      // Without a port, as with a Unix domain socket, the unexpected input might belong to another connection.
      hasUnasked = (localPort > 0 || !isNew) && ccurl_multi_is_unfit(multi, localPort, mayMultiplex)
      if transfer?.isCleartextHTTP2 == true, !speaksHTTP2(isNew: isNew) { hasUnasked = true }
      guard starts > 1, let transfer else { return !hasUnasked }
      // For example when a server requires HTTP/1.1 in the middle of a response: two bodies would be merged.
      guard answer.status < 200 else { return false }
      if isRefused {
        isRefused = false
        refusals += 1
        return refusals <= CurlTransfer.maxUnprocessed && rewindBody()
      }
      guard starts == 2, transfer.obstacleToRepetition() == nil, rewindBody() else { return false }
      if connects > connectsBefore {
        transfer.isRepetition = true
        return true
      }
      return mayMultiplex && place.pointee.connection != connectionBefore
    }

    /// Records the connection of the request.
    private func noteConnection(_ localPort: Int32, isNew: Bool) {
      if case .unixSocket(let path) = address {
        ccurl_multi_note_file(multi, place, path, isNew)
      } else {
        ccurl_multi_note_port(multi, place, localPort)
      }
    }

    /// Returns whether the connection uses HTTP/2 without TLS, as a new one does. libcurl would also reuse a connection
    /// of HTTP/1.1 and start HTTP/2 in the middle of it.
    private func speaksHTTP2(isNew: Bool) -> Bool {
      if isNew { ccurl_multi_note_http2(multi, place) }
      return isNew || ccurl_multi_speaks_http2(multi, place)
    }

    /// Rewinds the body. libcurl rewinds only if bytes of it were sent. It forgets bytes that it has read and could not
    /// send, for example because of flow control.
    private func rewindBody() -> Bool {
      guard hasBodyBegun else { return true }
      return pump.map { $0.rewind() } ?? body?.seek(to: 0) ?? true
    }

    /// Closes the connection after this request if it has served the maximum number of requests.
    private func retireIfWornOut() {
      guard let limit = configuration.maxRequestsPerConnection else { return }
      guard ccurl_multi_count_use(multi, place) >= limit else { return }
      needsReset = true
      set(CCURL_FORBID_REUSE, 1)
      transfer?.loop.http2.noteRetired(place.pointee.connection)
    }

    /// Whether libcurl has tried to send the request a second time, permitted or not.
    var wasToStartAgain: Bool { starts > 1 }

    /// Returns whether libcurl's `code` means that a reused connection was closed before any response other than a
    /// permission to send the body arrived.
    func lostKeptConnection(_ code: Int32) -> Bool {
      guard answer.status < 200 else { return false }
      if wasToStartAgain || hasUnasked || isHeadUnsent { return true }
      var codes = [CCURL_GOT_NOTHING, CCURL_SEND_ERROR, CCURL_RECEIVE_ERROR]
      if transfer?.mayMultiplex == true { codes += [CCURL_HTTP2, CCURL_PARTIAL_FILE] }
      guard codes.contains(Int(code)) else { return false }
      return isExcluded || ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS)) == 0
    }

    /// Whether the server has not processed the request: it said so, or the request was not sent, or was sent without
    /// its body.
    var isUnprocessed: Bool { !mayBeProcessed && (hasUnasked || isExcluded || isRefused || isHeadUnsent) }
  }
#endif
