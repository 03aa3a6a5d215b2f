#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The certain knowledge about a request that libcurl has ended. libcurl does not report whether a server has processed a
  /// request, so nothing is concluded from its texts, and a request that is not certainly unsent may have been processed.
  enum CurlFate: Equatable {
    /// The response is complete, as far as libcurl knows: the framing and the content coding are checked, too.
    case complete
    /// No byte was sent: the transport refused the kept connection.
    case notSent
    /// The connection was lost before the final head, or libcurl was about to send the request again.
    case mayHaveBeenProcessed
    /// The connection was lost after the final head, or within it.
    case truncated
    /// Any other error, such as a refused connection. It is reported as it is.
    case failed

    /// The codes of libcurl for a lost connection, after which an HTTP/2 connection is not used any more.
    static let connectionLosses = [
      CURLE_HTTP2, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
    ]
    /// The same, and the code for a lost stream.
    private static let losses = connectionLosses + [CURLE_HTTP2_STREAM]

    /// - Parameters:
    ///   - code: libcurl's result.
    ///   - starts: The number of times that libcurl has started to send the request.
    ///   - isRefused: Whether the transport has refused the connection at the first start.
    ///   - status: The status of the last head, also of an incomplete one; 0 without a head.
    ///   - isHeadComplete: Whether the final head has been received.
    ///   - isBodyComplete: Whether the body has the length that the final head announces, or there is none.
    init(code: CURLcode, starts: Int, isRefused: Bool, status: Int, isHeadComplete: Bool, isBodyComplete: Bool) {
      if isRefused {
        self = .notSent
      } else if code == CURLE_OK {
        self = isHeadComplete ? .complete : .truncated
      } else if isHeadComplete, isBodyComplete, starts == 1, Self.losses.contains(code) {
        self = .complete
      } else if status < 200, starts > 1 || Self.losses.contains(code) {
        self = .mayHaveBeenProcessed
      } else {
        self = status >= 200 && Self.losses.contains(code) ? .truncated : .failed
      }
    }
  }

  /// The decision whether a request may be sent over a connection.
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
      let looks = !isNew && !transfer.maySendTwice
      if looks || transfer.mayMultiplex || attempt.address != nil || configuration.maxRequestsPerConnection != nil {
        noteConnection(localPort, isNew: isNew)
      }
      retireIfWornOut()
      attempt.isRefused = isUnfit(localPort, isNew: isNew, looks: looks)
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
    private func isUnfit(_ localPort: Int32, isNew: Bool, looks: Bool) -> Bool {
      // Without a port, as with a Unix domain socket, the unexpected input might belong to another connection.
      guard localPort > 0 || !isNew, let transfer else { return false }
      // Over HTTP/2, and inside TLS, input may belong to the protocol itself.
      let toleratesInput = transfer.mayMultiplex || (transfer.isSecure && !looks)
      let idle = looks && !transfer.mayMultiplex ? transfer.lane?.longestIdle ?? 0 : 0
      return ccurl_multi_is_unfit(multi, easy, connectionData, localPort, looks, toleratesInput, idle)
    }

    /// Records the connection of the request.
    private func noteConnection(_ localPort: Int32, isNew: Bool) {
      if case .unixSocket(let path) = attempt.address?.kind {
        ccurl_multi_note_file(multi, connectionData, path, isNew)
      } else {
        ccurl_multi_note_port(multi, connectionData, localPort)
      }
    }

    /// Closes the connection after this request if it has served the maximum number of requests.
    private func retireIfWornOut() {
      guard let limit = configuration.maxRequestsPerConnection else { return }
      guard ccurl_multi_count_use(multi, connectionData) >= limit else { return }
      settings.needsReset = true
      set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Whether libcurl has tried to send the request a second time.
    var wasToStartAgain: Bool { attempt.starts > 1 }

    func fate(_ code: CURLcode) -> CurlFate {
      CurlFate(
        code: code, starts: attempt.starts, isRefused: attempt.isRefused, status: response.status,
        isHeadComplete: response.isHeadComplete,
        isBodyComplete: response.hasNoBody || response.isComplete)
    }

    /// Whether the request was sent over a connection that had served another one. libcurl starts a request again only
    /// in this case, and if the server refuses an HTTP/2 stream.
    var wasOnKeptConnection: Bool {
      wasToStartAgain || ccurl_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0
    }
  }
#endif
