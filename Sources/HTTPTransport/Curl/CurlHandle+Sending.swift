#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// When a request goes out, and whether it may again.
  extension CurlHandle {
    /// Notes that the request begins to go out; `false` where it must not.
    ///
    /// libcurl would send it again by itself, up to five times and on connections that may be as dead as the first. It may
    /// once, over a new one, where that is safe, and as often as the server has refused it unprocessed; all else is the
    /// loop's to decide.
    ///
    /// Nor is it sent where bytes have come in that nobody asked for, which would be taken for its response, or where the
    /// kept connection has ended.
    func beginSending(from localPort: Int32) -> Bool {
      starts += 1
      stream = 0
      // An earlier start that was not refused may have been carried out, whatever stops this one.
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
      // Without a port, as of a Unix domain socket, it might be another connection that has something in it.
      hasUnasked = (localPort > 0 || !isNew) && ccurl_multi_is_unfit(multi, localPort, mayMultiplex)
      if transfer?.isCleartextHTTP2 == true, !speaksHTTP2(isNew: isNew) { hasUnasked = true }
      guard starts > 1, let transfer else { return !hasUnasked }
      // As when a server asks for HTTP/1.1 in the middle of a response: two bodies would become one.
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

    /// Notes on which connection the request goes out.
    private func noteConnection(_ localPort: Int32, isNew: Bool) {
      if case .unixSocket(let path) = address {
        ccurl_multi_note_file(multi, place, path, isNew)
      } else {
        ccurl_multi_note_port(multi, place, localPort)
      }
    }

    /// Whether the connection speaks HTTP/2 without TLS, as a new one does: libcurl would also take a kept one of HTTP/1.1, and
    /// begin HTTP/2 in the middle of it.
    private func speaksHTTP2(isNew: Bool) -> Bool {
      if isNew { ccurl_multi_note_http2(multi, place) }
      return isNew || ccurl_multi_speaks_http2(multi, place)
    }

    /// Puts the body back to its beginning. libcurl does that only where bytes of it have gone: what it has read and could not
    /// send, as for want of a window, it forgets.
    private func rewindBody() -> Bool {
      guard hasBodyBegun else { return true }
      return pump.map { $0.rewind() } ?? body?.seek(to: 0) ?? true
    }

    /// Lets a connection go behind this request if it has served as many as allowed.
    private func retireIfWornOut() {
      guard let limit = configuration.maxRequestsPerConnection else { return }
      guard ccurl_multi_count_use(multi, place) >= limit else { return }
      needsReset = true
      set(CCURL_FORBID_REUSE, 1)
      transfer?.loop.http2.noteRetired(place.pointee.connection)
    }

    /// Whether libcurl has begun to send the request a second time, whether it was let or not.
    var wasToStartAgain: Bool { starts > 1 }

    /// Whether libcurl's `code` means that a kept connection was closed under the request, before anything of a response
    /// came but a leave to send the body.
    func lostKeptConnection(_ code: Int32) -> Bool {
      guard answer.status < 200 else { return false }
      if wasToStartAgain || hasUnasked || isHeadUnsent { return true }
      var codes = [CCURL_GOT_NOTHING, CCURL_SEND_ERROR, CCURL_RECEIVE_ERROR]
      if transfer?.mayMultiplex == true { codes += [CCURL_HTTP2, CCURL_PARTIAL_FILE] }
      guard codes.contains(Int(code)) else { return false }
      return isExcluded || ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS)) == 0
    }

    /// Whether the server has not processed the request, by its own word or because it was never sent, or without its body.
    var isUnprocessed: Bool { !mayBeProcessed && (hasUnasked || isExcluded || isRefused || isHeadUnsent) }
  }
#endif
