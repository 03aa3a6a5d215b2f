#if canImport(CCurl)
  import CCurl
  import Foundation

  /// What libcurl is told before a request goes out.
  extension CurlHandle {
    /// Bodies up to this size go out in one packet with their head; larger ones are read as they are sent.
    private static let inlineBody = 1 << 16

    /// Above it, a body that the server does not want is dearer than asking first; libcurl's own limit, too.
    private static let expectationSize: Int64 = 1 << 20

    func setUpTLS() {
      let tls = configuration.tls
      switch tls.trust {
      case .system: if let file = CurlLibrary.fallbackCAFile { trust(file: file) }
      case .file(let file):
        trust(file: file.path)
        forgetSystemsTrust()
      case .pem(let pem):
        pem.withUnsafeBytes { bytes in
          for blob in [CCURL_CAINFO_BLOB, CCURL_PROXY_CAINFO_BLOB] {
            _ = ccurl_easy_set_blob(easy, option(blob), bytes.baseAddress, bytes.count)
          }
        }
        forgetSystemsTrust()
      }
      if let identity = tls.identity {
        set(CCURL_SSLCERT, identity.certificate.path)
        set(CCURL_SSLKEY, identity.key.path)
        if let password = identity.password { set(CCURL_KEYPASSWD, password) }
      }
      for version in [CCURL_SSLVERSION, CCURL_PROXY_SSLVERSION] {
        set(version, Int(tls.minimumVersion == .v1_3 ? CCURL_TLS_1_3 : CCURL_TLS_1_2))
      }
    }

    /// Of servers and of proxies that speak TLS.
    private func trust(file: String) {
      for place in [CCURL_CAINFO, CCURL_PROXY_CAINFO] { set(place, file) }
    }

    /// A file of CAs stands beside libcurl's folder of them, which is the system's, not in its place.
    private func forgetSystemsTrust() {
      for place in [CCURL_CAPATH, CCURL_PROXY_CAPATH] { ccurl_easy_set_pointer(easy, option(place), nil) }
    }

    func setUpProxy() {
      switch configuration.proxy {
      // An empty string means none, whatever the environment says.
      case .none:
        set(CCURL_PROXY, "")
        // Nor is it searched for anything.
        set(CCURL_NOPROXY, "*")
      case .url(let url, let except):
        set(CCURL_PROXY, url.absoluteString)
        // Never empty: then the environment would count.
        set(CCURL_NOPROXY, except.isEmpty ? "," : except.joined(separator: ","))
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
        prepareRepetition(request)
        return ([], [:])
      }
      needsReset = true
      set(CCURL_POST, 1)
      if request.method != .post { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
      let count = try prepareBody(request)
      prepareRepetition(request)
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
          if let start = bytes.baseAddress {
            ccurl_easy_set_pointer(easy, option(CCURL_COPYPOSTFIELDS), start)
          } else {
            set(CCURL_COPYPOSTFIELDS, "")
          }
        }
        return Int64(data.count)
      case .data(let data): return read(from: BodySource(data))
      case .file(let file):
        let source = try BodySource(file: file, of: request)
        if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
        return read(from: source)
      case .parts(let parts):
        let source = try BodySource(parts: parts, of: request)
        if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
        return read(from: source)
      case .stream(let stream):
        pump = ChunkPump(stream) { [weak transfer] in transfer?.goOn() }
        readBody(count: stream.count ?? -1)
        return stream.count
      }
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

    /// When a kept connection dies under a request, libcurl sends it again. A POST may have been carried out by then
    /// (RFC 9110 §9.2.2), so for methods that are not idempotent the second start is refused.
    ///
    /// So it is for methods that are not known, and a key for it changes nothing here: a repetition of that kind is the
    /// retry's to decide.
    private func prepareRepetition(_ request: Request) {
      mayRepeat = request.method.isIdempotent
      // Older ones do not ask before they send: a new connection is not sent on twice.
      if !mayRepeat, !CurlLibrary.asksBeforeSending { set(CCURL_FRESH_CONNECT, 1) }
    }
  }
#endif
