#if canImport(CCurl)
  import CCurl
  import Foundation

  /// What libcurl is told before a request goes out.
  extension CurlHandle {
    /// Bodies up to this size go out in one packet with their head; larger ones are read as they are sent.
    private static let inlineBody = 1 << 16

    /// Above it, a body that the server does not want is dearer than asking first; libcurl's own limit, too.
    private static let expectationSize: Int64 = 1 << 20

    /// Other schemes are refused before they come here; so does libcurl.
    func setUpProtocols() {
      let name = "the limit to http and https"
      if CurlLibrary.isAtLeast(0x07_5500) {
        // It takes only what it was built with.
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
          for blob in places(CCURL_CAINFO_BLOB, CCURL_PROXY_CAINFO_BLOB) {
            demand("TLS.trust", ccurl_easy_set_blob(easy, option(blob), bytes.baseAddress, bytes.count))
          }
        }
        forgetSystemsTrust()
      }
      if let identity = tls.identity {
        demand("the certificate of TLS.identity", set(CCURL_SSLCERT, identity.certificate.path))
        demand("the key of TLS.identity", set(CCURL_SSLKEY, identity.key.path))
        if let password = identity.password {
          demand("the password of TLS.identity", set(CCURL_KEYPASSWD, password))
        }
      }
      for place in places(CCURL_SSLVERSION, CCURL_PROXY_SSLVERSION) {
        demand("TLS.minimumVersion", set(place, Int(tls.minimumVersion == .v1_3 ? CCURL_TLS_1_3 : CCURL_TLS_1_2)))
      }
    }

    /// Where something is set that holds for servers and for a proxy that speaks TLS.
    private func places(_ server: Int, _ proxy: Int) -> [Int] {
      switch configuration.proxy {
      case .none: [server]
      case .url(let url, _): url.scheme?.lowercased() == "https" ? [server, proxy] : [server]
      case .environment: [server, proxy]
      }
    }

    private func trust(file: String) {
      for place in places(CCURL_CAINFO, CCURL_PROXY_CAINFO) { demand("TLS.trust", set(place, file)) }
    }

    /// A file of CAs stands beside libcurl's folder of them, which is the system's, not in its place.
    private func forgetSystemsTrust() {
      for place in places(CCURL_CAPATH, CCURL_PROXY_CAPATH) {
        let code = ccurl_easy_set_pointer(easy, option(place), nil)
        // TLS libraries that know no such folder trust none.
        if !CurlFailure.isUnknownOption(code) { demand("TLS.trust in place of the system's", code) }
      }
    }

    func setUpProxy() {
      switch configuration.proxy {
      case .none:
        // An empty string means none, whatever the environment says; a libcurl without proxies knows no such option.
        let code = set(CCURL_PROXY, "")
        if !CurlFailure.isUnknownOption(code) { demand("Proxy.none", code, .invalidRequest) }
        // Nor is it searched for anything.
        set(CCURL_NOPROXY, "*")
      case .url(let url, let except):
        demand("the URL of Configuration.proxy", set(CCURL_PROXY, url.absoluteString), .invalidRequest)
        // Never empty: then the environment would count.
        let hosts = except.isEmpty ? "," : except.joined(separator: ",")
        demand("the exceptions of Configuration.proxy", set(CCURL_NOPROXY, hosts), .invalidRequest)
      case .environment: break
      }
      // The proxy's own answer to CONNECT is no one's answer.
      set(CCURL_SUPPRESS_CONNECT_HEADERS, 1)
    }

    /// Method and body; gives the header lines libcurl must not add, and those it must.
    func prepareMethodAndBody(
      _ request: Request
    ) throws(NetworkError) -> (removed: [String], added: HTTPHeaders) {
      let sendsLength = [.post, .put, .patch].contains(request.method)
      if request.body.isEmpty, !sendsLength {
        guard request.method != .get else { return ([], [:]) }
        needsReset = true
        if request.method == .head { set(CCURL_NOBODY, 1) } else { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
        return ([], [:])
      }
      needsReset = true
      set(CCURL_POST, 1)
      if request.method != .post { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
      let count = try prepareBody(request)
      var (removed, added): ([String], HTTPHeaders) = ([], [:])
      // libcurl would call every body a form.
      if request.headers["Content-Type"] == nil { removed.append("Content-Type") }
      if count == nil { added["Transfer-Encoding"] = "chunked" }
      if request.headers["Expect"] == nil {
        expectsContinue = (count.map { $0 > Self.expectationSize } ?? true) && transfer?.hasRefusedExpectation != true
        if !expectsContinue { removed.append("Expect") }
      }
      return (removed, added)
    }

    /// Gives the length, `nil` where it is not known.
    private func prepareBody(_ request: Request) throws(NetworkError) -> Int64? {
      switch request.body {
      case .none:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), 0)
        set(CCURL_COPYPOSTFIELDS, "")
        return 0
      case .data(let data) where data.count <= Self.inlineBody:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), Int64(data.count))
        data.withUnsafeBytes { bytes in
          _ = bytes.baseAddress.map { set(CCURL_COPYPOSTFIELDS, $0) } ?? set(CCURL_COPYPOSTFIELDS, "")
        }
        return Int64(data.count)
      case .data(let data): return read(from: BodySource(data))
      case .stream(let stream): return read(from: stream)
      case .file(let file):
        if let files = transfer?.files { return read(from: files) }
        return read(from: try BodySource(parts: [.file(file)], of: request))
      case .parts(let parts):
        if let files = transfer?.files { return read(from: files) }
        return read(from: try BodySource(parts: parts, of: request))
      }
    }

    private func read(from stream: Request.BodyStream) -> Int64? {
      pump = ChunkPump(stream) { [weak transfer] in transfer?.goOn() }
      readBody(count: stream.count ?? -1)
      return stream.count
    }

    private func read(from source: BodySource) -> Int64 {
      body = source
      readBody(count: source.count)
      return source.count
    }

    private func readBody(count: Int64) {
      let me = Unmanaged.passUnretained(self).toOpaque()
      ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), count)
      set(CCURL_READDATA, me)
      set(CCURL_SEEKDATA, me)
      ccurl_easy_set_data_callback(easy, option(CCURL_READFUNCTION), CurlCallbacks.sendBody)
      ccurl_easy_set_seek_callback(easy, option(CCURL_SEEKFUNCTION), CurlCallbacks.seekBody)
    }
  }
#endif
