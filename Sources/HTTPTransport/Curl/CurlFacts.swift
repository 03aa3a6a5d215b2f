#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The facts about a request that libcurl has ended, for the text of its error.
  struct CurlFacts {
    let code: CURLcode
    let text: String
    let handle: CurlHandle
    let transfer: any CurlOperation

    var response: CurlResponse { handle.response }
    var host: String { transfer.hostAndPort }
    var hostAndText: String { "\(host): \(text)" }
    var proxy: String? { handle.proxyPlace }

    /// The status of a proxy's response to CONNECT; 0 without a tunnel.
    var tunnelStatus: Int { ccurl_easy_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE) }
    var hasTunnel: Bool { (200..<300).contains(tunnelStatus) }

    /// Whether the text of OpenSSL or GnuTLS only reports that the connection was closed, without a reason.
    var isHangUp: Bool {
      [
        "ssl_error_syscall", "unexpected eof", "connection reset", "broken pipe",
        "connection was non-properly terminated",
      ]
      .contains(where: text.lowercased().contains)
    }

    /// Whether the peer has responded to the TLS handshake in another protocol, such as HTTP: the texts of OpenSSL and GnuTLS.
    var isPlainText: Bool {
      ["wrong version number", "unexpected tls packet", "packet length too long", "http request"]
        .contains(where: text.lowercased().contains)
    }

    /// Whether the peer has not responded to the probes of an idle connection, or has not acknowledged data.
    var isPeerGone: Bool { text.lowercased().contains("connection timed out") }

    /// Whether the connection to the server or the tunnel to it is established, but no request could be sent yet.
    var isInHandshake: Bool {
      handle.connectedAt == nil && transfer.isSecure && (handle.proxyPlace == nil || hasTunnel)
    }

    /// Whether the server ended TLS 1.3 because a client certificate is missing. In TLS 1.3, this error arrives only
    /// after the handshake.
    var isCertificateDemand: Bool {
      ["certificate required", "bad certificate", "certificate unknown", "unknown ca", "fatal alert"]
        .contains(where: text.lowercased().contains)
    }

    /// The remedy for a connection that ended before the response. Over TLS 1.3, a server that misses a client
    /// certificate closes the connection only after the handshake, and its alert may be lost with it.
    var remedy: String {
      let mayMissCertificate =
        transfer.isSecure && handle.configuration.tls.identity == nil && !handle.isOnReusedConnection
      return mayMissCertificate
        ? "try again, or set TLSOptions.identity if the server requires a client certificate" : "try again"
    }

    /// The system limit that prevented a connection; `nil` if there was none.
    var systemLimit: String? {
      let code = handle.connectionData.pointee.socket_error
      guard code != 0 else { return nil }
      return "\(String(cString: strerror(code))); raise the limit, or lower Configuration.maxConnections"
    }
  }
#endif
