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
    /// The options that are set. A reset, or a new easy handle, begins again with these values.
    struct Settings {
      var url = ""
      var connectMilliseconds = 0
      /// The size of libcurl's read buffer: approximately the size of the last response.
      var bufferSize = CurlHandle.defaultBuffer
      var waitsForMultiplexing = false
      /// The HTTP version set last; `nil` if it is not set.
      var chosenVersion: Int?
      var headersSent: HTTPHeaders?
      var cookiesSent: String?
      /// The lists that libcurl has pointers to.
      var headerList: CurlHeaderList?
      var addressLine: CurlLine?
      /// Whether there are settings that a plain GET does not have.
      var needsReset = false
      /// The error of a security-related setting that libcurl does not accept. Nothing may then be sent.
      var failure: NetworkError?
    }

    /// The state of one attempt to send a request and to receive its response.
    struct Attempt {
      /// The number of times that libcurl has started to send the request.
      var starts = 0
      /// The uptime in nanoseconds of the last start. libcurl's times do not include its waits for a connection.
      var sentAt: UInt64?
      /// Whether the transport has refused the connection, so that the request was not sent.
      var isRefused = false
      /// The error of the body's source.
      var bodyFailure: NetworkError?
      /// Whether the request waits for permission to send the body, and whether libcurl has requested its first bytes.
      var expectsContinue = false
      var hasBodyBegun = false
      /// Whether sending is paused.
      var isSendPaused = false
      /// Whether a status line was received and no field yet; see `awaitFirstField`.
      var awaitsFirstField = false
      /// The decision about a redirect.
      var redirect: RedirectPolicy.Decision?
      /// Whether the body of a redirect was too long to be read completely.
      var hasLeftBody = false
      var dropped = 0
      /// Whether the consumer of the body has requested a pause, as known to the loop.
      var isHeld = false
      /// Whether the loop continues to decode the input in its next turn.
      var isResting = false
      /// Whether receiving is paused.
      var isPaused = false
      /// The reason why a callback ended the transfer, if libcurl's code is not specific enough.
      var abortReason: String?
      /// The libcurl code with which the loop ends the transfer after the current callback; `nil` if it continues.
      var endCode: CURLcode?
      /// The code with which libcurl ended the transfer while a pause still holds decoded content back.
      var heldCode: CURLcode?
      /// Whether libcurl has reported the end of the transfer without an error.
      var hasSucceeded = false
    }

    var settings = Settings()
    var attempt = Attempt()
    /// The current transfer.
    var transfer: CurlTransfer?
    /// The request of a socket that is being opened instead of a transfer.
    var opening: Request?
    /// The uptime in nanoseconds at which the transfer was passed to libcurl.
    var startedAt: UInt64 = 0
    /// The turn of the loop in which the transfer was passed to libcurl. Until the next turn, libcurl still reports the
    /// data of the previous transfer.
    var turn: UInt64 = 0
    /// The body of the request, if it is larger than an inline body.
    var body: BodySource?
    /// The source of a body that is a stream or in files.
    var pump: ChunkPump?
    // Unchecked, because each line of a head would be checked several times. Only the loop's thread accesses it, and no
    // access is reentrant.
    @exclusivity(unchecked) var answer = CurlResponse()
    /// The decoder for the content coding of the response; `nil` if it is not coded.
    var decoder: ContentDecoder?

    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let configuration: CurlTransport.Configuration
    /// The target of the connection instead of the URL's host.
    var address: AddressOverride?
    /// The header lines of the last plain GET, for reuse.
    var plainHead: (headers: HTTPHeaders, list: CurlHeaderList)?
    /// The URL that is set, in libcurl's parsed form.
    private var parsedURL: UnsafeMutableRawPointer?
    var remote = (address: "", port: 0, text: "")
    /// Whether libcurl showed the first field of a response before it used it.
    var showsFirstField = false

    /// libcurl's default. It allocates this much for every transfer, which costs more than reading a small response.
    private static let defaultBuffer = 1 << 14
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
      setUp()
    }

    deinit {
      ccurl_easy_cleanup(easy)
      ccurl_url_cleanup(parsedURL)
      errorText.deallocate()
      connectionData.deallocate()
    }

    /// Sets the options that all transfers have in common.
    private func setUp() {
      settings = Settings()
      connectionData.pointee = ccurl_transfer()
      connectionData.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
      setUpConnections()
      // A libcurl without TLS rejects https itself.
      if CurlLibrary.speaksTLS { setUpTLS() }
      setUpProxy()
      if CurlLibrary.keepsFreedFields { setDebugCallback() }
    }

    /// Prepares the handle for the current request of `transfer`.
    func prepare(_ transfer: CurlTransfer) throws(NetworkError) {
      self.transfer = transfer
      errorText.pointee = 0
      attempt = Attempt()
      connectionData.pointee.connection = 0
      connectionData.pointee.is_watched = false
      connectionData.pointee.socket_error = 0
      connectionData.pointee.lane = transfer.lane?.number ?? 0
      try checkSettings(transfer.request)
      let currentRequest = transfer.currentRequest
      // Not with HTTP/2: if the buffer is smaller than a record of 16 KB, libcurl 7.88 loses buffered parts of a
      // response.
      let isSmall = !transfer.mayMultiplex && answer.size <= Self.smallBuffer - 1024
      let expected = isSmall ? Self.smallBuffer : Self.defaultBuffer
      answer.start(
        maxBodySize: transfer.maxBodySize ?? configuration.maxBodySize, isHead: currentRequest.method == .head)
      set(url: transfer.currentURL)
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
      // libcurl before 7.80 resends without asking, but never on a new connection.
      if transfer.needsNewConnection || (!CurlLibrary.asksBeforeSending && !transfer.maySendTwice) {
        settings.needsReset = true
        set(CURLOPT_FRESH_CONNECT, 1)
      }
      let wanted = transfer.gate != nil ? Self.streamBuffer : expected
      if wanted != settings.bufferSize {
        set(CURLOPT_BUFFERSIZE, wanted)
        settings.bufferSize = wanted
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
      if !isAsBefore(transfer) { try prepareContent(transfer) }
    }

    /// Sets the URL, unless it is that of the previous transfer.
    func set(url text: String) {
      guard text != settings.url else { return }
      settings.url = text
      text.withCString { _ = ccurl_easy_set_url(easy, &parsedURL, $0) }
    }

    /// Sets the pins of the URL's host, if it has any.
    func pin(_ url: URL) {
      guard !configuration.tls.pins.isEmpty,
        let pins = configuration.tls.pins[HostSpelling.host(of: url) ?? ""]
      else { return }
      settings.needsReset = true
      demand(
        "TLSOptions.pins", set(CURLOPT_PINNEDPUBLICKEY, pins.map { "sha256//\($0.base64)" }.joined(separator: ";")))
    }

    /// Returns whether the request is a GET with the same fields as the previous one, so that all options are already
    /// set.
    private func isAsBefore(_ transfer: CurlTransfer) -> Bool {
      transfer.currentRequest.method == .get && transfer.currentRequest.body.isEmpty
        && settings.headersSent == transfer.currentRequest.headers
        && settings.cookiesSent == nil && transfer.currentRequest.chosenOptions?.value.cookies == nil
        && transfer.currentURL.utf8.count < Self.longHead
    }

    /// Records an error if `code` shows that libcurl does not accept a security-related setting.
    func demand(_ setting: String, _ code: CURLcode, _ kind: NetworkError.Kind = .tls) {
      guard code != CURLE_OK, settings.failure == nil else { return }
      settings.failure = CurlFailure.rejected(setting, kind, code)
    }

    /// Throws the error of a security-related setting that libcurl does not accept. Nothing may then be sent.
    func checkSettings(_ request: Request) throws(NetworkError) {
      if let failure = settings.failure { throw failure.about(request) }
    }

    /// Releases the transfer and its resources.
    func clear() {
      transfer = nil
      attempt.redirect = nil
      body = nil
      pump?.stop()
      pump = nil
      decoder = nil
      answer.discard()
    }

    /// Releases the transfer. A handle with settings that a plain GET does not have is reset. Returns `false` if the
    /// handle can't be reused.
    ///
    /// libcurl's handle is replaced unless its transfer succeeded at the first start. After a failure, a reset keeps
    /// state for the next transfer: libcurl 8.14 still wants to rewind the former body, and all versions remember a
    /// refused HTTP/2 stream.
    func release() -> Bool {
      clear()
      if !attempt.hasSucceeded || wasToStartAgain
        || (CurlLibrary.keepsFreedFields && (!showsFirstField || attempt.endCode != nil))
      {
        showsFirstField = false
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

    /// Returns libcurl's specific text for a failure, or the general text.
    func errorMessage(_ code: CURLcode) -> String {
      if errorText.pointee != 0 { return String(cString: errorText) }
      return ccurl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
    }

    /// Returns at least 1, because 0 would select libcurl's default of 300 s.
    static func milliseconds(_ nanoseconds: UInt64) -> Int {
      nanoseconds < 1_000_000_000_000_000 ? Swift.max(1, Int(nanoseconds / 1_000_000)) : 1_000_000_000
    }

    // Callers may ignore the code, except for security-related settings, whose code goes to `demand`.
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
