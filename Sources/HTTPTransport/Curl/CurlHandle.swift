#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// An easy handle and the transfer that it runs; the loop's thread only.
  final class CurlHandle {
    private(set) var easy: UnsafeMutableRawPointer
    let multi: OpaquePointer
    private let share: UnsafeMutableRawPointer?
    /// What the multi handle knows of the transfer's connection.
    let place = UnsafeMutablePointer<ccurl_transfer>.allocate(capacity: 1)
    /// What it runs now.
    var transfer: CurlTransfer?
    /// The request of a socket, where it opens one instead of a transfer.
    var opening: Request?
    // Unchecked, as each line of a head would be checked several times: the loop's thread alone comes here, and nothing
    // that a response does leads back to it.
    @exclusivity(unchecked) var answer = CurlResponse()
    /// Removes the content coding of the response, where it has one.
    var decoder: ContentDecoder?
    /// Why a callback ended the transfer, where libcurl's code alone would not say.
    var abortReason: String?
    /// When it was handed to libcurl, uptime in nanoseconds.
    var startedAt: UInt64 = 0
    /// The turn of the loop in which it was handed to libcurl: in it, libcurl knows of the transfer before only.
    var turn: UInt64 = 0

    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let configuration: CurlTransport.Configuration
    /// Where its connection goes instead of the URL's host, and the line that says so.
    var address: CurlTransport.Address?
    var addressLine: CurlLine?
    var headerList: CurlHeaderList?
    var headersSent: HTTPHeaders?
    /// The lines of the last plain GET, for the next one like it.
    var plainHead: (headers: HTTPHeaders, list: CurlHeaderList)?
    private var connectMilliseconds = 0
    /// Whether it has done more than a plain GET.
    var needsReset = false
    private var waitsForMultiplexing = false
    /// The version of HTTP that libcurl was asked for last; `nil` if it was not asked for any.
    var chosenVersion: Int?
    /// Which setting that guards something libcurl does not take; without it, nothing may be sent.
    private(set) var refusal: NetworkError?
    var cookiesSent: String?
    var remote = (address: "", port: 0, text: "")
    /// How much libcurl reads at once: as much as the last response had, roughly.
    private var bufferSize = CurlHandle.defaultBuffer

    // MARK: The request

    /// The body in memory, where it is not small.
    var body: BodySource?
    /// Makes the body while it is sent, where it is a stream or in files.
    var pump: ChunkPump?
    /// Why the body could not be made.
    var bodyFailure: NetworkError?
    /// Whether the server is asked before the body is sent, and whether libcurl has asked for its first bytes.
    var expectsContinue = false
    var hasBodyBegun = false
    /// Whether libcurl was told to send no more for now.
    var isSendPaused = false
    /// How often its request has begun to go out.
    var starts = 0
    /// How often the server has refused it unprocessed, and whether libcurl has just said so.
    var refusals = 0
    var isRefused = false
    /// Whether it was sent, as far as that shows, before libcurl began anew.
    var mayBeProcessed = false
    /// The HTTP/2 stream that it is on, as far as libcurl says.
    var stream: UInt64 = 0
    /// How many connections it had opened, and on which it was, by the time of its last start.
    var connectsBefore = 0
    var connectionBefore: UInt64 = 0
    /// When it last began to go out, uptime in nanoseconds; libcurl's own times do not tell of its waits for a connection.
    var sentAt: UInt64?
    /// Whether the connection had something in it before the request was sent, which it then was not.
    var hasUnasked = false
    /// Whether libcurl would send the head a second time.
    var isHeadUnsent = false

    /// The code of libcurl's with which the loop ends the transfer after the current callback; `nil` if it goes on.
    var endCode: Int?
    /// Whether libcurl's debug output is on for the whole transfer.
    var isListening = false

    // MARK: The response

    /// Whether a status line was received and no field yet; see `awaitFirstField`.
    var awaitsFirstField = false
    /// Whether libcurl showed the first field of a response before it looked at it.
    var showsFirstField = false

    /// What the head of a redirect led to.
    var redirect: RedirectPolicy.Decision?
    /// Whether the body of a redirect was too long to be read to its end.
    var hasLeftBody = false
    var dropped = 0
    /// Whether the consumer of the body has asked for a pause that is not over, as far as the loop has heard.
    var isHeld = false
    /// Whether libcurl was told to read no more for now.
    var isPaused = false
    /// How libcurl has ended the transfer, while decoded content is still held back by a pause.
    var heldCode: Int32?

    /// libcurl's own. It sets this much aside for every transfer, which for a small response costs more than to read it.
    private static let defaultBuffer = 1 << 14
    private static let smallBuffer = 1 << 12
    /// Of responses that are handed out as they come in: fewer system calls.
    private static let streamBuffer = 1 << 15

    /// `share` keeps the TLS sessions that all handles resume, so that a second connection to a host costs less.
    init?(_ configuration: CurlTransport.Configuration, multi: OpaquePointer, share: UnsafeMutableRawPointer?) {
      guard let easy = ccurl_easy_init() else { return nil }
      self.easy = easy
      self.multi = multi
      self.share = share
      self.configuration = configuration
      errorText.pointee = 0
      if let share { set(CCURL_SHARE, share) }
      place.initialize(to: ccurl_transfer())
      setUp()
    }

    deinit {
      ccurl_easy_cleanup(easy)
      errorText.deallocate()
      place.deallocate()
    }

    /// Sets what every transfer has in common.
    private func setUp() {
      refusal = nil
      place.pointee = ccurl_transfer()
      place.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
      setUpConnections()
      // One without TLS refuses https by itself.
      if CurlLibrary.speaksTLS { setUpTLS() }
      setUpProxy()
      if CurlLibrary.keepsFreedFields { setDebugCallback() }
      connectMilliseconds = 0
      bufferSize = Self.defaultBuffer
      waitsForMultiplexing = false
      headersSent = nil
      cookiesSent = nil
    }

    private func forgetTransfer() {
      abortReason = nil
      bodyFailure = nil
      expectsContinue = false
      hasBodyBegun = false
      isSendPaused = false
      starts = 0
      refusals = 0
      isRefused = false
      mayBeProcessed = false
      stream = 0
      connectionBefore = 0
      sentAt = nil
      hasUnasked = false
      isHeadUnsent = false
      endCode = nil
      isListening = false
      awaitsFirstField = false
      redirect = nil
      hasLeftBody = false
      dropped = 0
      isHeld = false
      isPaused = false
      heldCode = nil
    }

    /// Gets ready for `transfer`'s current hop.
    func prepare(_ transfer: CurlTransfer) throws(NetworkError) {
      self.transfer = transfer
      errorText.pointee = 0
      forgetTransfer()
      place.pointee.connection = 0
      place.pointee.is_watched = false
      place.pointee.lane = transfer.lane?.number ?? 0
      if let refusal { throw refuse(refusal, transfer) }
      let currentRequest = transfer.currentRequest
      // Not where HTTP/2 may be spoken: with less than a record's 16 KB, libcurl 7.88 forgets what it holds of a response over HTTP/2.
      let isSmall = !transfer.mayMultiplex && answer.size <= Self.smallBuffer - 1024
      let expected = isSmall ? Self.smallBuffer : Self.defaultBuffer
      answer.start(
        maxBodySize: transfer.maxBodySize ?? configuration.maxBodySize, isHead: currentRequest.method == .head)
      set(CCURL_URL, transfer.hopURL)
      let milliseconds = Self.milliseconds(currentRequest.timeouts.connect)
      if milliseconds != connectMilliseconds {
        set(CCURL_CONNECTTIMEOUT_MS, milliseconds)
        connectMilliseconds = milliseconds
      }
      try chooseVersion(transfer)
      let multiplexes = transfer.mayMultiplex && transfer.httpVersion != .http1 && CurlLibrary.speaksHTTP2
      let waits = multiplexes && !(transfer.isCleartextHTTP2 && CurlLibrary.repeatsPriorKnowledge)
      if waits != waitsForMultiplexing {
        waitsForMultiplexing = waits
        // Several requests at once to a new host wait for the first's handshake, and share its HTTP/2 connection.
        set(CCURL_PIPEWAIT, waits ? 1 : 0)
      }
      // libcurl before 7.80 repeats without asking, but never on a connection of its own.
      if transfer.isRepetition || (!CurlLibrary.asksBeforeSending && !transfer.maySendTwice) {
        needsReset = true
        set(CCURL_FRESH_CONNECT, 1)
      }
      if multiplexes, needsDebugOutput(transfer) { listen() }
      let wanted = transfer.gate != nil ? Self.streamBuffer : expected
      if wanted != bufferSize {
        set(CCURL_BUFFERSIZE, wanted)
        bufferSize = wanted
      }
      if transfer.reportsProgress {
        needsReset = true
        set(CCURL_NOPROGRESS, 0)
        set(CCURL_XFERINFODATA, place)
        ccurl_easy_set_progress_callback(easy, option(CCURL_XFERINFOFUNCTION), CurlCallbacks.reportProgress)
      }
      if transfer.isSecure, pin(currentRequest.url), let refusal { throw refuse(refusal, transfer) }
      if !configuration.directory.isEmpty, redirectConnection(of: currentRequest.url), let refusal {
        throw refuse(refusal, transfer)
      }
      if !isAsBefore(transfer) { try prepareContent(transfer) }
    }

    /// Sets the pins of the URL's host, if it has some.
    func pin(_ url: URL) -> Bool {
      guard !configuration.tls.pins.isEmpty,
        let pins = configuration.tls.pins[CurlTransport.TLS.pinnedHost(url) ?? ""]
      else { return false }
      needsReset = true
      demand("TLS.pins", set(CCURL_PINNEDPUBLICKEY, pins.joined(separator: ";")))
      return true
    }

    /// Whether it is a GET with the fields of the one before: then all is said already.
    private func isAsBefore(_ transfer: CurlTransfer) -> Bool {
      transfer.currentRequest.method == .get && transfer.currentRequest.body.isEmpty
        && headersSent == transfer.currentRequest.headers
        && cookiesSent == nil && transfer.currentRequest.chosenOptions?.value.cookies == nil
    }

    /// Notes that a setting which guards something was not taken, where `code` says so.
    func demand(_ setting: String, _ code: Int32, _ kind: NetworkError.Kind = .tls) {
      guard code != 0, refusal == nil else { return }
      refusal = CurlFailure.refused(setting, kind, code)
    }

    /// The next request may have more luck, as when memory was short.
    func refuse(_ refusal: NetworkError, _ transfer: CurlTransfer) -> NetworkError {
      needsReset = true
      return refusal.about(transfer.request)
    }

    /// Whether libcurl may come back to the handle, which has been taken from it: a request that has no response and may not
    /// have been sent, on an HTTP/2 connection that is there. When that gets to the request, it marks the handle's stream as
    /// ended: another's, or freed memory, if the handle has gone on by then.
    var isRemembered: Bool {
      CurlLibrary.remembersUnsent && transfer?.mayMultiplex == true && starts > 0 && answer.status == 0
        && ccurl_multi_is_open(multi, place)
    }

    /// Whether libcurl, which remembers `other`, comes back to it no more: its connection is closed or has answered this one,
    /// which was sent later.
    func hasOvertaken(_ other: CurlHandle) -> Bool {
      guard ccurl_multi_is_open(multi, other.place) else { return true }
      guard answer.status > 0, place.pointee.connection == other.place.pointee.connection else { return false }
      return (sentAt ?? 0) > (other.sentAt ?? 0)
    }

    /// Lets go of the transfer and what it needed.
    func clear() {
      transfer = nil
      redirect = nil
      body = nil
      pump?.stop()
      pump = nil
      decoder = nil
      answer.discard()
    }

    /// Releases the transfer. A handle that did more than a plain GET is reset. Returns `false` if the handle can't be reused.
    func release() -> Bool {
      clear()
      if CurlLibrary.keepsFreedFields, !showsFirstField || endCode != nil {
        showsFirstField = false
        guard let fresh = ccurl_easy_init() else { return false }
        ccurl_easy_cleanup(easy)
        easy = fresh
        if let share { set(CCURL_SHARE, share) }
      } else if needsReset {
        // The share survives it.
        ccurl_easy_reset(easy)
      } else {
        return true
      }
      needsReset = false
      headerList = nil
      addressLine = nil
      setUp()
      return true
    }

    /// libcurl's text for this failure, the general one where it has no other.
    func errorMessage(_ code: Int32) -> String {
      if errorText.pointee != 0 { return String(cString: errorText) }
      return ccurl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
    }

    /// At least 1: zero would mean libcurl's default of 300 s.
    static func milliseconds(_ seconds: Double) -> Int {
      seconds > 0 && seconds < 1e6 ? Swift.max(1, Int(seconds * 1000)) : 1_000_000_000
    }

    func option(_ raw: Int) -> Int32 { Int32(raw) }
    // What the caller does with the code is theirs: those that guard something go to `demand`.
    @discardableResult
    func set(_ raw: Int, _ value: Int) -> Int32 { ccurl_easy_set_long(easy, option(raw), value) }
    @discardableResult
    func set(_ raw: Int, _ value: String) -> Int32 {
      value.withCString { ccurl_easy_set_pointer(easy, option(raw), $0) }
    }
    @discardableResult
    func set(_ raw: Int, _ value: UnsafeRawPointer) -> Int32 { ccurl_easy_set_pointer(easy, option(raw), value) }
  }
#endif
