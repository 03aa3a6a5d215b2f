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
    var proxy: ProxyRoute? { handle.route }

    /// Whether the connection to the server is established: directly, or through a tunnel or a SOCKS proxy.
    private var reachesServer: Bool {
      guard let proxy else { return true }
      guard transfer.needsTunnel else { return proxy.isSOCKS }
      return proxy.isSOCKS || hasTunnel || handle.connectedAt != nil || handle.isOnReusedConnection
    }

    /// The sides of the connection; `isProxys` tells which one failed.
    func sides(isProxys: Bool? = nil) -> ConnectionSides {
      ConnectionSides(
        server: host, proxy: proxy.map { ($0.place, $0.setting) }, isProxys: isProxys ?? !reachesServer,
        hasIdentity: handle.configuration.tls.identity != nil, minVersion: handle.configuration.tls.minVersion)
    }

    /// The alert with which the peer has ended TLS; `nil` without one, and after the start of a response.
    var alert: TLSAlert? {
      let codes = [
        CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CLIENTCERT,
      ]
      return response.status < 200 && codes.contains(code) ? TLSAlert(text) : nil
    }

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
      handle.connectedAt == nil && transfer.isSecure && reachesServer
    }

    /// Whether the server may have closed the connection because it misses a client certificate. Over TLS 1.3, it does so
    /// only after the handshake, and its alert may be lost.
    var mayMissCertificate: Bool {
      transfer.isSecure && reachesServer && handle.configuration.tls.identity == nil && !handle.isOnReusedConnection
    }

    /// The system limit that prevented a connection; `nil` if there was none.
    var systemLimit: String? {
      let code = handle.connectionData.pointee.socket_error
      guard code != 0 else { return nil }
      return "\(String(cString: strerror(code))); raise the limit, or lower Configuration.maxConnections"
    }
  }
#endif
