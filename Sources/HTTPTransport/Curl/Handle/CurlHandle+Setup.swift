#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The settings that are common to all transfers of a handle: callbacks, protocols, TLS, proxy.
  extension CurlHandle {
    func setUpConnections() {
      set(CURLOPT_PRIVATE, connectionData)
      ccurl_easy_watch(easy, multi, connectionData)
      set(CURLOPT_NOSIGNAL, 1)
      set(CURLOPT_ERRORBUFFER, errorText)
      set(CURLOPT_WRITEDATA, connectionData)
      set(CURLOPT_HEADERDATA, connectionData)
      ccurl_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION, CurlCallbacks.receiveBody)
      ccurl_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION, CurlCallbacks.receiveHeader)
      // Also for requests without a body: by default, libcurl would read standard input.
      set(CURLOPT_READDATA, connectionData)
      set(CURLOPT_SEEKDATA, connectionData)
      ccurl_easy_set_data_callback(easy, CURLOPT_READFUNCTION, CurlCallbacks.sendBody)
      ccurl_easy_set_seek_callback(easy, CURLOPT_SEEKFUNCTION, CurlCallbacks.seekBody)
      set(CURLOPT_PATH_AS_IS, 1)
      // A field of the request takes precedence.
      if let agent = configuration.userAgent { set(CURLOPT_USERAGENT, agent) }
      setUpProtocols()
      if CurlLibrary.asksBeforeSending {
        set(CURLOPT_PREREQDATA, connectionData)
        ccurl_easy_set_prereq_callback(easy, CURLOPT_PREREQFUNCTION, CurlCallbacks.aboutToSend)
      }
      // Without it, the timeout of a slow name server would wait for the resolver's thread.
      if CurlLibrary.hasQuickExit { set(CURLOPT_QUICK_EXIT, 1) }
      set(CURLOPT_MAXAGE_CONN, configuration.idleSeconds)
    }

    /// Restricts libcurl to http and https. Other schemes have already been rejected.
    private func setUpProtocols() {
      let name = "the restriction to http and https"
      if CurlLibrary.namesProtocols {
        // The option accepts only protocols that libcurl supports.
        let names = CurlLibrary.speaksTLS ? "http,https" : "http"
        require(name, set(CURLOPT_PROTOCOLS_STR, names), .invalidRequest)
      } else {
        require(name, set(CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS), .invalidRequest)
      }
    }

    func setUpTLS() {
      let tls = configuration.tls
      switch tls.trust.kind {
      case .system: if let file = CurlLibrary.fallbackCAFile { trust(file: file) }
      case .file(let file):
        trust(file: file.path)
        disableSystemTrust()
      case .pem(let pem):
        pem.withUnsafeBytes { bytes in
          forEachTLS(CURLOPT_CAINFO_BLOB, CURLOPT_PROXY_CAINFO_BLOB) { blob in
            require("TLSOptions.trust", ccurl_easy_set_blob(easy, blob, bytes.baseAddress, bytes.count))
          }
        }
        disableSystemTrust()
      }
      if case .pem(let certificate, let key, let password) = tls.identity?.kind {
        require("the certificate of TLSOptions.identity", set(CURLOPT_SSLCERT, certificate.path))
        require("the key of TLSOptions.identity", set(CURLOPT_SSLKEY, key.path))
        // Always set: without a value, OpenSSL would prompt for the password of an encrypted key on the terminal and
        // block this thread.
        require("the password of TLSOptions.identity", set(CURLOPT_KEYPASSWD, password ?? ""))
      }
      forEachTLS(CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION) { option in
        require(
          "TLSOptions.minVersion",
          set(option, tls.minVersion == .v1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2))
      }
    }

    /// Calls `body` with the option for servers and, if the proxy may use TLS, with the option for the proxy.
    private func forEachTLS(_ server: ccurl_option, _ proxy: ccurl_option, _ body: (ccurl_option) -> Void) {
      body(server)
      switch configuration.proxy.kind {
      case .none: break
      case .url(let url, _): if url.scheme?.lowercased() == "https" { body(proxy) }
      // A variable may name such a proxy.
      case .environment: body(proxy)
      }
    }

    private func trust(file: String) {
      forEachTLS(CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO) { require("TLSOptions.trust", set($0, file)) }
    }

    /// Disables libcurl's folder of CAs, which is the system's. A CA file would only be added to that folder.
    private func disableSystemTrust() {
      forEachTLS(CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH) {
        let code = ccurl_easy_set_pointer(easy, $0, nil)
        // TLS libraries without this option do not trust a folder.
        if !CurlFailure.isUnknownOption(code) { require("TLSOptions.trust in place of the system's", code) }
      }
    }

    func setUpProxy() {
      switch configuration.proxy.kind {
      case .none:
        // An empty string disables proxies regardless of the environment. A libcurl built without proxy support lacks
        // this option.
        let code = set(CURLOPT_PROXY, "")
        if !CurlFailure.isUnknownOption(code) { require("ProxyOptions.none", code, .invalidRequest) }
        // Prevents libcurl from reading the environment.
        set(CURLOPT_NOPROXY, "*")
      case .url(_, let except):
        // Never empty, because libcurl would then read the environment.
        let hosts = except.isEmpty ? "," : except.joined(separator: ",")
        require("the exceptions of Configuration.proxy", set(CURLOPT_NOPROXY, hosts), .invalidRequest)
      case .environment: break
      }
      if case .url = configuration.proxy.kind { try? chooseProxy(isSecure: false) }
      // The proxy's response to CONNECT is not delivered to the caller.
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    /// Sets the proxy of a request, which the environment may select by the scheme.
    ///
    /// - Throws: The error of a variable that is not valid.
    func chooseProxy(isSecure: Bool) throws(NetworkError) {
      let route = try configuration.proxy.route(isSecure: isSecure)
      guard route != settings.route || !settings.hasRoute else { return }
      (settings.route, settings.hasRoute) = (route, true)
      // An empty string disables proxies, also those of the environment.
      require("the URL of \(route?.setting ?? "no proxy")", set(CURLOPT_PROXY, route?.url ?? ""), .invalidRequest)
    }
  }
#endif
