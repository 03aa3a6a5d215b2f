#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// The settings that are common to all transfers of a handle.
  extension CurlHandle {
    func setUpConnections() {
      set(CCURL_PRIVATE, place)
      ccurl_easy_watch(easy, multi)
      set(CCURL_NOSIGNAL, 1)
      set(CCURL_ERRORBUFFER, errorText)
      set(CCURL_WRITEDATA, place)
      set(CCURL_HEADERDATA, place)
      ccurl_easy_set_data_callback(easy, option(CCURL_WRITEFUNCTION), CurlCallbacks.receiveBody)
      ccurl_easy_set_data_callback(easy, option(CCURL_HEADERFUNCTION), CurlCallbacks.receiveHeader)
      set(CCURL_PATH_AS_IS, 1)
      chosenVersion = nil
      setUpProtocols()
      if CurlLibrary.asksBeforeSending {
        set(CCURL_PREREQDATA, place)
        ccurl_easy_set_prereq_callback(easy, option(CCURL_PREREQFUNCTION), CurlCallbacks.aboutToSend)
      }
      // Without it, the timeout of a slow name server would wait for the resolver's thread.
      if CurlLibrary.isAtLeast(0x07_5700) { set(CCURL_QUICK_EXIT, 1) }
      set(CCURL_MAXAGE_CONN, configuration.idleSeconds)
    }

    /// Sets the HTTP version of `transfer`.
    ///
    /// - Throws: an error if the request can't be sent with the version that its caller requires.
    func chooseVersion(_ transfer: CurlTransfer) throws(NetworkError) {
      if transfer.httpVersion == .http3, let obstacle = obstacleToHTTP3(transfer) {
        throw NetworkError(
          kind: .invalidRequest,
          reason: "HTTPVersion.http3 \(obstacle), so nothing was sent to \(transfer.place); use HTTPVersion.automatic",
          request: transfer.request)
      }
      if transfer.isCleartextHTTP2 {
        needsReset = true
        // Without a tunnel, an HTTP proxy would receive HTTP/1.1.
        set(CCURL_HTTPPROXYTUNNEL, 1)
        if CurlLibrary.repeatsPriorKnowledge { set(CCURL_FRESH_CONNECT, 1) }
      }
      let version = version(of: transfer)
      guard version != chosenVersion else { return }
      chosenVersion = version
      let code = set(CCURL_HTTP_VERSION, version)
      // The text is created only on failure: it costs six allocations per request with libraries whose handles are not
      // reused.
      if code != 0 { demand("HTTPVersion.\(transfer.httpVersion)", code, .invalidRequest) }
      if let refusal { throw refuse(refusal, transfer) }
    }

    /// Returns the version as a libcurl constant. Without TLS, HTTP/1.1 is set explicitly. Otherwise, libcurl would
    /// also use a connection that already uses HTTP/2.
    private func version(of transfer: CurlTransfer) -> Int {
      guard transfer.mayMultiplex else { return CCURL_HTTP_VERSION_1_1 }
      switch transfer.httpVersion {
      case .http1: return CCURL_HTTP_VERSION_1_1
      case .http3: return CCURL_HTTP_VERSION_3ONLY
      case .http2PriorKnowledge where !transfer.isSecure: return CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      case .automatic, .http2PriorKnowledge:
        if let lane = transfer.lane, lane.http3Until > transfer.loop.now, obstacleToHTTP3(transfer) == nil {
          return CCURL_HTTP_VERSION_3
        }
        return CurlLibrary.speaksHTTP2 ? CCURL_HTTP_VERSION_2TLS : CCURL_HTTP_VERSION_1_1
      }
    }

    /// Returns the reason why the current request can't use HTTP/3; `nil` if it can.
    private func obstacleToHTTP3(_ transfer: CurlTransfer) -> String? {
      guard transfer.isSecure else { return "needs an https URL" }
      if case .unixSocket = configuration.directory.address(of: transfer.currentRequest.url) {
        return "does not support Unix domain sockets"
      }
      switch configuration.proxy {
      case .none: return nil
      case .url: return proxyPlace.map { "does not work through the proxy \($0)" }
      case .environment: return "does not work through a proxy (Proxy.environment)"
      }
    }

    /// Restricts libcurl to http and https. Other schemes are rejected earlier, too.
    private func setUpProtocols() {
      let name = "the restriction to http and https"
      if CurlLibrary.isAtLeast(0x07_5500) {
        // The option accepts only protocols that libcurl was built with.
        let names = CurlLibrary.speaksTLS ? "http,https" : "http"
        demand(name, set(CCURL_PROTOCOLS_STR, names), .invalidRequest)
      } else {
        demand(name, set(CCURL_PROTOCOLS, Int(CCURL_PROTOCOLS_HTTP_HTTPS)), .invalidRequest)
      }
    }

    func setUpTLS() {
      let tls = configuration.tls
      switch tls.trust {
      case .system: if let file = CurlLibrary.fallbackCAFile { trust(file: file) }
      case .file(let file):
        trust(file: file.path)
        forgetSystemsTrust()
      case .pem(let pem):
        pem.withUnsafeBytes { bytes in
          forEachTLS(CCURL_CAINFO_BLOB, CCURL_PROXY_CAINFO_BLOB) { blob in
            demand("TLS.trust", ccurl_easy_set_blob(easy, option(blob), bytes.baseAddress, bytes.count))
          }
        }
        forgetSystemsTrust()
      }
      if let identity = tls.identity {
        demand("the certificate of TLS.identity", set(CCURL_SSLCERT, identity.certificate.path))
        demand("the key of TLS.identity", set(CCURL_SSLKEY, identity.key.path))
        // Always set: without a password, OpenSSL would prompt for that of an encrypted key on the terminal, on this
        // thread.
        demand("the password of TLS.identity", set(CCURL_KEYPASSWD, identity.password ?? ""))
      }
      forEachTLS(CCURL_SSLVERSION, CCURL_PROXY_SSLVERSION) { option in
        demand("TLS.minimumVersion", set(option, Int(tls.minimumVersion == .v1_3 ? CCURL_TLS_1_3 : CCURL_TLS_1_2)))
      }
    }

    /// Calls `body` with the option for servers and, if the proxy uses TLS or may, with the one for the proxy.
    private func forEachTLS(_ server: Int, _ proxy: Int, _ body: (Int) -> Void) {
      body(server)
      switch configuration.proxy {
      case .none: break
      case .url(let url, _): if url.scheme?.lowercased() == "https" { body(proxy) }
      case .environment: body(proxy)
      }
    }

    private func trust(file: String) {
      forEachTLS(CCURL_CAINFO, CCURL_PROXY_CAINFO) { demand("TLS.trust", set($0, file)) }
    }

    /// Disables libcurl's folder of CAs, which is the system's. A file of CAs would only be added to it.
    private func forgetSystemsTrust() {
      forEachTLS(CCURL_CAPATH, CCURL_PROXY_CAPATH) {
        let code = ccurl_easy_set_pointer(easy, option($0), nil)
        // TLS libraries without this option do not trust a folder.
        if !CurlFailure.isUnknownOption(code) { demand("TLS.trust in place of the system's", code) }
      }
    }

    func setUpProxy() {
      switch configuration.proxy {
      case .none:
        // An empty string disables proxies regardless of the environment. A libcurl without proxies lacks this option.
        let code = set(CCURL_PROXY, "")
        if !CurlFailure.isUnknownOption(code) { demand("Proxy.none", code, .invalidRequest) }
        // Prevents the search of the environment.
        set(CCURL_NOPROXY, "*")
      case .url(let url, let except):
        let text = CurlTransport.Proxy.withPort(url)
        demand("the URL of Configuration.proxy", set(CCURL_PROXY, text), .invalidRequest)
        // Never empty, because then the environment would apply.
        let hosts = except.isEmpty ? "," : except.joined(separator: ",")
        demand("the exceptions of Configuration.proxy", set(CCURL_NOPROXY, hosts), .invalidRequest)
      case .environment: break
      }
      // The proxy's response to CONNECT is not delivered to the caller.
      set(CCURL_SUPPRESS_CONNECT_HEADERS, 1)
    }
  }
#endif
