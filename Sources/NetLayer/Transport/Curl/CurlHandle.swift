#if canImport(CCurl)
  import CCurl
  import Foundation

  /// An easy handle, kept and used again, and what comes in through its callbacks; the loop's thread only.
  final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    /// What it runs now.
    var transfer: CurlTransfer?
    var answer: CurlAnswer
    /// Why a callback ended the transfer, where libcurl's code alone would not say.
    var abortReason: String?
    /// When it was handed to libcurl, uptime in nanoseconds.
    var startedAt: UInt64 = 0

    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    private let caFile: String?
    private var headerList: CurlHeaderList?
    private var headersSent: HTTPHeaders?
    private var connectMilliseconds = 0
    private var needsReset = false
    private var waitsForMultiplexing = false
    private(set) var body: BodySource?
    private(set) var mayRepeat = true
    /// How often its request has begun to go out.
    var starts = 0
    /// What the head of a redirect led to.
    private(set) var redirect: RedirectPolicy.Decision?
    /// Whether the body of a redirect was too long to be read to its end.
    private(set) var hasLeftBody = false
    private var dropped = 0
    /// Whether libcurl was told to read no more.
    private var isPaused = false

    /// A redirect's body is read and dropped, which keeps the connection; beyond this size a new one is cheaper.
    private static let maxDropped = 1 << 16

    /// Bodies up to this size go out in one packet with their head; larger ones are read as they are sent.
    private static let inlineBody = 1 << 16

    init?(caFile: String?, maxBodySize: Int) {
      guard let easy = ccurl_easy_init() else { return nil }
      self.easy = easy
      self.caFile = caFile
      answer = CurlAnswer(maxBodySize: maxBodySize)
      errorText.pointee = 0
      setUp()
    }

    deinit {
      ccurl_easy_cleanup(easy)
      errorText.deallocate()
    }

    /// What every transfer has in common.
    private func setUp() {
      let me = Unmanaged.passUnretained(self).toOpaque()
      set(CCURL_PRIVATE, me)
      set(CCURL_NOSIGNAL, 1)
      set(CCURL_ERRORBUFFER, errorText)
      set(CCURL_WRITEDATA, me)
      set(CCURL_HEADERDATA, me)
      ccurl_easy_set_data_callback(easy, option(CCURL_WRITEFUNCTION), CurlCallbacks.receiveBody)
      ccurl_easy_set_data_callback(easy, option(CCURL_HEADERFUNCTION), CurlCallbacks.receiveHeader)
      set(CCURL_PATH_AS_IS, 1)
      // An empty string means no proxy, whatever the environment says.
      set(CCURL_PROXY, "")
      // An empty string means every decoder this libcurl has.
      set(CCURL_ACCEPT_ENCODING, "")
      set(CCURL_HTTP_VERSION, Int(CCURL_HTTP_VERSION_2TLS))
      if CurlLibrary.isAtLeast(0x07_5500) {
        set(CCURL_PROTOCOLS_STR, "http,https")
      } else {
        set(CCURL_PROTOCOLS, Int(CCURL_PROTOCOLS_HTTP_HTTPS))
      }
      // Without it, giving up on a slow name server would wait for the resolver's thread.
      if CurlLibrary.isAtLeast(0x07_5700) { set(CCURL_QUICK_EXIT, 1) }
      if let caFile { set(CCURL_CAINFO, caFile) }
      connectMilliseconds = 0
      waitsForMultiplexing = false
      headersSent = nil
    }

    /// Gets ready for `transfer`'s current hop.
    func prepare(_ transfer: CurlTransfer) throws(NetworkError) {
      self.transfer = transfer
      errorText.pointee = 0
      abortReason = nil
      starts = 0
      redirect = nil
      hasLeftBody = false
      dropped = 0
      isPaused = false
      answer.start()
      let request = transfer.hop
      set(CCURL_URL, transfer.hopURL)
      let milliseconds = Self.milliseconds(request.timeouts.connect)
      if milliseconds != connectMilliseconds {
        set(CCURL_CONNECTTIMEOUT_MS, milliseconds)
        connectMilliseconds = milliseconds
      }
      if transfer.isSecure != waitsForMultiplexing {
        waitsForMultiplexing.toggle()
        // Several requests at once to a new host wait for the first's handshake, and share its HTTP/2 connection.
        set(CCURL_PIPEWAIT, waitsForMultiplexing ? 1 : 0)
      }
      if transfer.reportsProgress {
        needsReset = true
        set(CCURL_NOPROGRESS, 0)
        set(CCURL_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
        ccurl_easy_set_progress_callback(easy, option(CCURL_XFERINFOFUNCTION), CurlCallbacks.reportProgress)
      }
      let removed = try prepareMethodAndBody(request)
      if headersSent != request.headers || !removed.isEmpty {
        let ownCoding = request.headers.contains { HTTPHeaders.same($0.name, "Accept-Encoding") }
        if ownCoding {
          // Who asks for a coding of their own gets it as it comes.
          ccurl_easy_set_pointer(easy, option(CCURL_ACCEPT_ENCODING), nil)
          needsReset = true
        }
        let list = CurlHeaderList(request.headers, removed: removed)
        ccurl_easy_set_pointer(easy, option(CCURL_HTTPHEADER), list.head)
        headerList = list
        headersSent = request.headers
      }
    }

    /// Method and body; gives the header lines libcurl must not add.
    private func prepareMethodAndBody(_ request: Request) throws(NetworkError) -> [String] {
      let sendsLength = [.post, .put, .patch].contains(request.method)
      if request.body.isEmpty, !sendsLength {
        guard request.method != .get else { return [] }
        needsReset = true
        if request.method == .head { set(CCURL_NOBODY, 1) } else { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
        return []
      }
      needsReset = true
      set(CCURL_POST, 1)
      if request.method != .post { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
      try prepareBody(request)
      prepareRepetition(request.method)
      // libcurl would wait for "100 Continue" before large bodies, and call every body a form.
      var removed = request.headers["Expect"] == nil ? ["Expect"] : []
      if request.headers["Content-Type"] == nil { removed.append("Content-Type") }
      return removed
    }

    private func prepareBody(_ request: Request) throws(NetworkError) {
      switch request.body {
      case .none:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), 0)
        set(CCURL_COPYPOSTFIELDS, "")
      case .data(let data) where data.count <= Self.inlineBody:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), Int64(data.count))
        data.withUnsafeBytes { bytes in
          if let start = bytes.baseAddress {
            ccurl_easy_set_pointer(easy, option(CCURL_COPYPOSTFIELDS), start)
          } else {
            set(CCURL_COPYPOSTFIELDS, "")
          }
        }
      case .data(let data): stream(BodySource(data))
      case .file(let file):
        let source = try BodySource(file: file, of: request)
        if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
        stream(source)
      case .parts(let parts):
        let source = try BodySource(parts: parts, of: request)
        if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
        stream(source)
      }
    }

    private func stream(_ source: BodySource) {
      body = source
      let me = Unmanaged.passUnretained(self).toOpaque()
      ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), source.count)
      set(CCURL_READDATA, me)
      set(CCURL_SEEKDATA, me)
      ccurl_easy_set_data_callback(easy, option(CCURL_READFUNCTION), CurlCallbacks.sendBody)
      ccurl_easy_set_seek_callback(easy, option(CCURL_SEEKFUNCTION), CurlCallbacks.seekBody)
    }

    /// When a kept connection dies under a request, libcurl sends it again. A POST may have been carried out by then
    /// (RFC 9110 §9.2.2), so for methods that are not idempotent the second start is refused.
    private func prepareRepetition(_ method: HTTPMethod) {
      mayRepeat = method != .post && method != .patch
      guard !mayRepeat, CurlLibrary.isAtLeast(0x07_5000) else { return }
      set(CCURL_PREREQDATA, Unmanaged.passUnretained(self).toOpaque())
      ccurl_easy_set_prereq_callback(easy, option(CCURL_PREREQFUNCTION), CurlCallbacks.aboutToSend)
    }

    /// Takes a line of a head; `false` when the heads are larger than allowed.
    func receiveHead(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      let wasComplete = answer.isHeadComplete
      guard answer.headerLine(line) else { return false }
      if !wasComplete, answer.isHeadComplete { headCompleted() }
      return true
    }

    private func headCompleted() {
      guard let transfer else { return }
      if (300..<400).contains(answer.status) {
        let decision = RedirectPolicy.decide(
          original: transfer.request, hop: transfer.hop, status: answer.status, headers: answer.headers,
          hops: transfer.hops)
        if case .deliver = decision {} else { redirect = decision }
      }
      guard redirect == nil else { return }
      transfer.deliverHead {
        Response(request: transfer.request, url: transfer.hop.url, status: answer.status, headers: answer.headers)
      }
    }

    /// Takes a piece of a body: what libcurl is to hear.
    func receiveBody(_ bytes: UnsafeRawPointer, _ length: Int) -> Int {
      if redirect != nil {
        dropped += length
        hasLeftBody = dropped > Self.maxDropped
        return hasLeftBody ? 0 : length
      }
      guard let transfer, let gate = transfer.gate else { return answer.append(bytes, length) ? length : 0 }
      if gate.isPaused {
        isPaused = true
        return Int(CCURL_WRITE_PAUSE)
      }
      transfer.deliver(bytes, length)
      return length
    }

    /// Lets libcurl read on.
    func unpause() {
      guard isPaused else { return }
      isPaused = false
      _ = ccurl_easy_unpause(easy)
    }

    /// Lets go of the transfer; a handle that did more than a plain GET forgets everything.
    func release() {
      transfer = nil
      redirect = nil
      body = nil
      answer.discard()
      guard needsReset else { return }
      needsReset = false
      ccurl_easy_reset(easy)
      headerList = nil
      setUp()
    }

    /// Whether the connection of this transfer stands, and since when (uptime in nanoseconds).
    var connectedAt: UInt64? {
      let micros = ccurl_easy_get_int64(easy, Int32(CCURL_PRETRANSFER_TIME))
      return micros > 0 ? startedAt + UInt64(micros) * 1000 : nil
    }

    /// What has been transferred when all is done.
    var finalProgress: TransferProgress {
      let sent = Swift.max(0, ccurl_easy_get_int64(easy, Int32(CCURL_SIZE_UPLOAD)))
      let received = Swift.max(0, ccurl_easy_get_int64(easy, Int32(CCURL_SIZE_DOWNLOAD)))
      return TransferProgress(sent: sent, toSend: sent, received: received, toReceive: received)
    }

    /// Whether the answer came over HTTP/2.
    var spokeHTTP2: Bool {
      ccurl_easy_get_long(easy, Int32(CCURL_INFO_HTTP_VERSION)) == Int(CCURL_HTTP_2)
    }

    /// libcurl's text for this failure, the general one where it has no other.
    func errorMessage(_ code: Int32) -> String {
      if errorText.pointee != 0 { return String(cString: errorText) }
      return ccurl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
    }

    /// At least 1: zero would mean libcurl's default of 300 s.
    private static func milliseconds(_ seconds: Double) -> Int {
      seconds > 0 && seconds < 1e6 ? Swift.max(1, Int(seconds * 1000)) : 1_000_000_000
    }

    private func option(_ raw: Int) -> Int32 { Int32(raw) }
    private func set(_ raw: Int, _ value: Int) {
      ccurl_easy_set_long(easy, option(raw), value)
    }
    private func set(_ raw: Int, _ value: String) {
      _ = value.withCString { ccurl_easy_set_pointer(easy, option(raw), $0) }
    }
    private func set(_ raw: Int, _ value: UnsafeRawPointer) {
      ccurl_easy_set_pointer(easy, option(raw), value)
    }
  }
#endif
