#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// An easy handle and its transfer. Used only on the loop's thread.
  final class CurlHandle {
    private(set) var easy: UnsafeMutableRawPointer
    let multi: OpaquePointer
    private let share: UnsafeMutableRawPointer?
    /// The multi handle's data about the transfer's connection.
    let connectionData = UnsafeMutablePointer<ccurl_transfer>.allocate(capacity: 1)
    var settings = Settings()
    var attempt = Attempt()
    var transfer: CurlTransfer?
    // Unchecked, because each line of a head would be checked several times. Only the loop's thread accesses them, and no
    // access is reentrant.
    var response = CurlResponse()
    var reception = Reception()

    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let configuration: CurlTransport.Configuration
    /// The header lines of the last plain GET, for reuse.
    var lastPlainGet: (headers: HTTPHeaders, list: CurlHeaderList)?
    /// The URL that is set, in libcurl's parsed form.
    private var parsedURL: UnsafeMutableRawPointer?
    var remote = (address: "", port: 0, text: "")
    /// The size of the last response, which predicts that of the next one.
    private var lastSize = 0

    /// libcurl's default. It allocates this much for every transfer, which costs more than reading a small response.
    static let defaultBuffer = 1 << 14
    private static let smallBuffer = 1 << 12
    /// The size for streamed responses, which saves system calls.
    private static let streamBuffer = 1 << 15

    /// Creates a handle. `share` stores the TLS sessions that all handles resume, so that further connections to a host
    /// cost less.
    init?(_ configuration: CurlTransport.Configuration, multi: OpaquePointer, share: UnsafeMutableRawPointer?) {
      guard let easy = ccurl_easy_init() else { return nil }
      self.easy = easy
      self.multi = multi
      self.share = share
      self.configuration = configuration
      errorText.pointee = 0
      if let share { set(CURLOPT_SHARE, share) }
      connectionData.initialize(to: ccurl_transfer())
      resetConnectionData(lane: 0)
      setUp()
    }

    deinit {
      ccurl_easy_cleanup(easy)
      ccurl_url_cleanup(parsedURL)
      errorText.deallocate()
      connectionData.deallocate()
    }

    private func setUp() {
      settings = Settings()
      setUpConnections()
      // A libcurl without TLS rejects https itself.
      if CurlLibrary.speaksTLS { setUpTLS() }
      setUpProxy()
      if CurlLibrary.keepsFreedFields { setDebugCallback() }
    }

    func prepare(_ transfer: CurlTransfer) throws(NetworkError) {
      self.transfer = transfer
      errorText.pointee = 0
      resetConnectionData(lane: transfer.lane?.number ?? 0)
      try checkSettings(transfer.request)
      let currentRequest = transfer.currentRequest
      let isSmall = !losesPartsInSmallBuffers(transfer) && lastSize <= Self.smallBuffer - 1024
      let expected = isSmall ? Self.smallBuffer : Self.defaultBuffer
      response = CurlResponse(
        maxBodySize: transfer.maxBodySize ?? configuration.maxBodySize, isHead: currentRequest.method == .head)
      set(url: transfer.currentURL)
      if case .environment = configuration.proxy.kind { try chooseProxy(isSecure: transfer.isSecure) }
      let milliseconds = Self.milliseconds(transfer.limits.connect)
      if milliseconds != settings.connectMilliseconds {
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        settings.connectMilliseconds = milliseconds
      }
      try chooseVersion(transfer)
      if transfer.mayMultiplex != settings.waitsForMultiplexing {
        settings.waitsForMultiplexing = transfer.mayMultiplex
        // Concurrent requests to a new host wait for the first handshake, and share its HTTP/2 connection.
        set(CURLOPT_PIPEWAIT, settings.waitsForMultiplexing ? 1 : 0)
      }
      let isAlone = mayBeResentUnasked(transfer)
      if transfer.needsNewConnection || isAlone {
        settings.needsReset = true
        set(CURLOPT_FRESH_CONNECT, 1)
        // Otherwise each of these requests would leave an idle connection, up to the limit of the host.
        if isAlone { set(CURLOPT_FORBID_REUSE, 1) }
      }
      let bufferSize = transfer.gate != nil ? Self.streamBuffer : expected
      if bufferSize != settings.bufferSize {
        set(CURLOPT_BUFFERSIZE, bufferSize)
        settings.bufferSize = bufferSize
      }
      if transfer.reportsProgress {
        settings.needsReset = true
        set(CURLOPT_NOPROGRESS, 0)
        set(CURLOPT_XFERINFODATA, connectionData)
        ccurl_easy_set_progress_callback(easy, CURLOPT_XFERINFOFUNCTION, CurlCallbacks.reportProgress)
      }
      if transfer.isSecure { pin(currentRequest.url) }
      if !configuration.directory.isEmpty { redirectConnection(of: currentRequest.url) }
      try checkSettings(transfer.request)
      let headers = fields(of: transfer)
      if !repeatsPreviousGet(transfer, headers) { try prepareContent(transfer, headers) }
    }

    /// Sets the URL, unless it is that of the previous transfer.
    func set(url text: String) {
      guard text != settings.url else { return }
      settings.url = text
      text.withCString { _ = ccurl_easy_set_url(easy, &parsedURL, $0, !CurlLibrary.losesZone(of: text)) }
    }

    /// Sets the pins of the URL's host, if it has any.
    func pin(_ url: URL) {
      guard !configuration.tls.pins.isEmpty,
        let pins = configuration.tls.pins[HostSpelling.host(of: url) ?? ""]
      else { return }
      settings.needsReset = true
      require(
        "TLSOptions.pins", set(CURLOPT_PINNEDPUBLICKEY, pins.map { "sha256//\($0.base64)" }.joined(separator: ";")))
    }

    /// Returns whether the request is a GET with the same fields as the previous one, so that all options are already
    /// set.
    private func repeatsPreviousGet(_ transfer: CurlTransfer, _ headers: HTTPHeaders) -> Bool {
      transfer.currentRequest.method == .get && transfer.currentRequest.body.isEmpty
        && settings.headersSent == headers
        && settings.cookiesSent == nil && transfer.currentRequest.chosenOptions?.value.cookies == nil
        && transfer.currentURL.utf8.count < Self.longHead
    }

    /// Records an error if `code` shows that libcurl does not accept a security-related setting.
    func require(_ setting: String, _ code: CURLcode, _ kind: NetworkError.Kind = .tls) {
      guard code != CURLE_OK, settings.failure == nil else { return }
      settings.failure = CurlFailure.rejected(setting, kind, code)
    }

    /// Throws the error of a security-related setting that libcurl does not accept. Nothing may then be sent.
    func checkSettings(_ request: Request) throws(NetworkError) {
      if let failure = settings.failure { throw failure.about(request) }
    }

    /// Releases the transfer. A handle with settings that a plain GET does not have is reset. Returns `false` if the
    /// handle can't be reused.
    func release() -> Bool {
      let isReusable = isReusable
      attempt.pump?.stop()
      lastSize = response.size
      response.discard()
      transfer = nil
      attempt = Attempt()
      reception = Reception()
      if !isReusable {
        guard let fresh = ccurl_easy_init() else { return false }
        ccurl_easy_cleanup(easy)
        easy = fresh
        if let share { set(CURLOPT_SHARE, share) }
      } else if settings.needsReset {
        // The share is not affected by the reset.
        ccurl_easy_reset(easy)
      } else {
        return true
      }
      setUp()
      return true
    }

    private func resetConnectionData(lane: UInt32) {
      connectionData.pointee = ccurl_transfer(
        owner: Unmanaged.passUnretained(self).toOpaque(), socket: -1, connection: 0, lane: lane, is_watched: false,
        socket_error: 0)
    }

    /// Returns libcurl's specific text for a failure, or the general text. All texts of libcurl enter here, without the
    /// user and password of a proxy.
    func errorMessage(_ code: CURLcode) -> String {
      if errorText.pointee != 0 { return ProxyOptions.withoutCredentials(String(cString: errorText)) }
      return ccurl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
    }

    /// Returns at least 1, because 0 would select libcurl's default of 300 s.
    static func milliseconds(_ nanoseconds: UInt64) -> Int {
      nanoseconds < 1_000_000_000_000_000 ? Swift.max(1, Int(nanoseconds / 1_000_000)) : 1_000_000_000
    }

    // Callers may ignore the code, except for security-related settings, whose code goes to `require`.
    @discardableResult
    func set(_ option: ccurl_option, _ value: Int) -> CURLcode { ccurl_easy_set_long(easy, option, value) }
    @discardableResult
    func set(_ option: ccurl_option, _ value: String) -> CURLcode {
      value.withCString { ccurl_easy_set_pointer(easy, option, $0) }
    }
    @discardableResult
    func set(_ option: ccurl_option, _ value: UnsafeRawPointer) -> CURLcode {
      ccurl_easy_set_pointer(easy, option, value)
    }
  }
#endif
