#if canImport(CCurl)
  import CCurl
  import Foundation

  /// An easy handle, kept and used again, and what comes in through its callbacks; the loop's thread only.
  final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    private let multi: OpaquePointer
    /// What it runs now.
    var transfer: CurlTransfer?
    // Unchecked, as each line of a head would be checked several times: the loop's thread alone comes here, and nothing
    // that an answer does leads back to it.
    @exclusivity(unchecked) var answer: CurlAnswer
    /// Why a callback ended the transfer, where libcurl's code alone would not say.
    var abortReason: String?
    /// When it was handed to libcurl, uptime in nanoseconds.
    var startedAt: UInt64 = 0

    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let configuration: CurlTransport.Configuration
    private var headerList: CurlHeaderList?
    private var headersSent: HTTPHeaders?
    private var connectMilliseconds = 0
    /// Whether it has done more than a plain GET.
    var needsReset = false
    private var waitsForMultiplexing = false
    /// The body in memory, where it is not small.
    var body: BodySource?
    /// Makes the body while it is sent, where it is a stream or in files.
    var pump: ChunkPump?
    /// Why the body could not be made.
    private(set) var bodyFailure: NetworkError?
    /// Which setting that guards something libcurl does not take; without it, nothing may be sent.
    private var refusal: NetworkError?
    /// Whether the server is asked before the body is sent.
    var expectsContinue = false
    private var cookiesSent: String?
    /// How often its request has begun to go out.
    private var starts = 0
    /// How many connections it had opened by the time of its last start.
    private var connectsBefore = 0
    /// The turn of the loop in which it was handed to libcurl: in it, libcurl knows of the transfer before only.
    var turn: UInt64 = 0
    /// When it last began to, uptime in nanoseconds; libcurl's own times do not tell of its waits for a connection.
    var sentAt: UInt64?
    /// Whether the connection had something in it before the request was sent, which it then was not.
    private(set) var hasUnasked = false
    /// What the head of a redirect led to.
    private(set) var redirect: RedirectPolicy.Decision?
    /// Whether the body of a redirect was too long to be read to its end.
    private(set) var hasLeftBody = false
    private var dropped = 0
    var remote = (address: "", port: 0, text: "")
    /// How much libcurl reads at once: as much as the last answer had, roughly.
    private var bufferSize = CurlHandle.defaultBuffer
    /// Whether libcurl was told to read no more, and to send no more.
    private var isPaused = false
    private var isSendPaused = false

    /// A redirect's body is read and dropped, which keeps the connection; beyond this size a new one is cheaper.
    private static let maxDropped = 1 << 16

    /// libcurl's own. It sets this much aside for every transfer, which for a small answer costs more than to read it.
    private static let defaultBuffer = 1 << 14
    private static let smallBuffer = 1 << 12
    /// Of answers that are handed out as they come in: fewer system calls, yet what one piece inflates to, a thousandfold
    /// at most, stays below the 64 MB that libcurl holds during a pause.
    private static let streamBuffer = 1 << 15

    /// `share` keeps the TLS sessions that all handles resume, so that a second connection to a host costs less.
    init?(_ configuration: CurlTransport.Configuration, multi: OpaquePointer, share: UnsafeMutableRawPointer?) {
      guard let easy = ccurl_easy_init() else { return nil }
      self.easy = easy
      self.multi = multi
      self.configuration = configuration
      answer = CurlAnswer()
      errorText.pointee = 0
      // Survives a reset.
      if let share { set(CCURL_SHARE, share) }
      setUp()
    }

    deinit {
      ccurl_easy_cleanup(easy)
      errorText.deallocate()
    }

    /// What every transfer has in common.
    private func setUp() {
      refusal = nil
      let me = Unmanaged.passUnretained(self).toOpaque()
      set(CCURL_PRIVATE, me)
      ccurl_easy_watch(easy, multi)
      set(CCURL_NOSIGNAL, 1)
      set(CCURL_ERRORBUFFER, errorText)
      set(CCURL_WRITEDATA, me)
      set(CCURL_HEADERDATA, me)
      ccurl_easy_set_data_callback(easy, option(CCURL_WRITEFUNCTION), CurlCallbacks.receiveBody)
      ccurl_easy_set_data_callback(easy, option(CCURL_HEADERFUNCTION), CurlCallbacks.receiveHeader)
      set(CCURL_PATH_AS_IS, 1)
      // An empty string means every decoder that this libcurl has.
      set(CCURL_ACCEPT_ENCODING, "")
      set(CCURL_HTTP_VERSION, Int(CCURL_HTTP_VERSION_2TLS))
      setUpProtocols()
      if CurlLibrary.asksBeforeSending {
        set(CCURL_PREREQDATA, me)
        ccurl_easy_set_prereq_callback(easy, option(CCURL_PREREQFUNCTION), CurlCallbacks.aboutToSend)
      }
      // Without it, giving up on a slow name server would wait for the resolver's thread.
      if CurlLibrary.isAtLeast(0x07_5700) { set(CCURL_QUICK_EXIT, 1) }
      // One without TLS refuses https by itself.
      if CurlLibrary.speaksTLS { setUpTLS() }
      setUpProxy()
      connectMilliseconds = 0
      bufferSize = Self.defaultBuffer
      waitsForMultiplexing = false
      headersSent = nil
      cookiesSent = nil
    }

    /// Gets ready for `transfer`'s current hop.
    func prepare(_ transfer: CurlTransfer) throws(NetworkError) {
      self.transfer = transfer
      errorText.pointee = 0
      abortReason = nil
      starts = 0
      sentAt = nil
      hasUnasked = false
      redirect = nil
      hasLeftBody = false
      dropped = 0
      isPaused = false
      isSendPaused = false
      expectsContinue = false
      bodyFailure = nil
      if let refusal { throw refuse(refusal, transfer) }
      // Not inside TLS: with less than a record's 16 KB, libcurl 7.88 forgets what it holds of an answer over HTTP/2.
      let isSmall = !transfer.isSecure && answer.size <= Self.smallBuffer - 1024
      let expected = isSmall ? Self.smallBuffer : Self.defaultBuffer
      answer.start(maxBodySize: transfer.maxBodySize ?? configuration.maxBodySize)
      set(CCURL_URL, transfer.hopURL)
      let milliseconds = Self.milliseconds(transfer.hop.timeouts.connect)
      if milliseconds != connectMilliseconds {
        set(CCURL_CONNECTTIMEOUT_MS, milliseconds)
        connectMilliseconds = milliseconds
      }
      if transfer.isSecure != waitsForMultiplexing {
        waitsForMultiplexing.toggle()
        // Several requests at once to a new host wait for the first's handshake, and share its HTTP/2 connection.
        set(CCURL_PIPEWAIT, waitsForMultiplexing ? 1 : 0)
      }
      // libcurl before 7.80 repeats without asking, but never on a connection of its own.
      if transfer.isRepetition || (!CurlLibrary.asksBeforeSending && !transfer.hop.method.isIdempotent) {
        needsReset = true
        set(CCURL_FRESH_CONNECT, 1)
      }
      let wanted = transfer.gate != nil ? Self.streamBuffer : expected
      if wanted != bufferSize {
        set(CCURL_BUFFERSIZE, wanted)
        bufferSize = wanted
      }
      if transfer.reportsProgress {
        needsReset = true
        set(CCURL_NOPROGRESS, 0)
        set(CCURL_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
        ccurl_easy_set_progress_callback(easy, option(CCURL_XFERINFOFUNCTION), CurlCallbacks.reportProgress)
      }
      if transfer.isSecure, !configuration.tls.pins.isEmpty,
        let pins = configuration.tls.pins[transfer.hop.url.plainHost ?? ""]
      {
        needsReset = true
        demand("TLS.pins", set(CCURL_PINNEDPUBLICKEY, pins.joined(separator: ";")))
        if let refusal { throw refuse(refusal, transfer) }
      }
      if !isAsBefore(transfer) { try prepareContent(transfer.hop) }
    }

    /// Whether it is a GET with the fields of the one before: then all is said already.
    private func isAsBefore(_ transfer: CurlTransfer) -> Bool {
      transfer.hop.method == .get && transfer.hop.body.isEmpty && headersSent == transfer.hop.headers
        && cookiesSent == nil && transfer.hop.chosenOptions?.value.cookies == nil
    }

    private func prepareContent(_ request: Request) throws(NetworkError) {
      let (removed, added) = try prepareMethodAndBody(request)
      let cookies = request.jarCookies
      if headersSent != request.headers || cookiesSent != cookies || !removed.isEmpty || added != HTTPHeaders() {
        let ownCoding = request.headers.contains { HTTPHeaders.same($0.name, "Accept-Encoding") }
        if ownCoding {
          // Who asks for a coding of their own gets it as it comes.
          ccurl_easy_set_pointer(easy, option(CCURL_ACCEPT_ENCODING), nil)
          needsReset = true
        }
        var fields = added == HTTPHeaders() ? request.headers : request.headers.merging(added)
        // libcurl would make this field anew for every request.
        if !ownCoding, !CurlLibrary.codings.isEmpty { fields.append("Accept-Encoding", CurlLibrary.codings) }
        if let cookies { fields.append("Cookie", cookies) }
        let list = CurlHeaderList(fields, removed: removed)
        ccurl_easy_set_pointer(easy, option(CCURL_HTTPHEADER), list.head)
        headerList = list
        headersSent = request.headers
        cookiesSent = cookies
      }
    }

    /// Notes that a setting which guards something was not taken, where `code` says so.
    func demand(_ setting: String, _ code: Int32, _ kind: NetworkError.Kind = .tls) {
      guard code != 0, refusal == nil else { return }
      refusal = CurlFailure.refused(setting, kind, code)
    }

    /// The next request may have more luck, as when memory was short.
    private func refuse(_ refusal: NetworkError, _ transfer: CurlTransfer) -> NetworkError {
      needsReset = true
      return refusal.about(transfer.request)
    }

    /// Notes that the request begins to go out; `false` where it must not.
    ///
    /// libcurl would send it again by itself, up to five times and on connections that may be as dead as the first. It may
    /// once, over a new one, where that is safe; all else is the loop's to decide.
    ///
    /// Nor is it sent where bytes have come in for which no one has asked: they would be taken for its answer. Inside TLS
    /// they may be the protocol's own.
    func beginSending(from localPort: Int32) -> Bool {
      starts += 1
      transfer?.touch()
      sentAt = transfer?.lastActivity
      let connects = ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS))
      defer { connectsBefore = connects }
      hasUnasked = transfer?.isSecure == false && ccurl_multi_has_unread(multi, localPort)
      guard starts > 1, let transfer else { return !hasUnasked }
      guard starts == 2, connects > connectsBefore, transfer.obstacleToRepetition() == nil else { return false }
      transfer.isRepetition = true
      return true
    }

    /// Whether libcurl has begun to send the request a second time, whether it was let or not.
    var wasToStartAgain: Bool { starts > 1 }

    /// Whether libcurl's `code` means that a kept connection was closed under the request, before anything of an answer
    /// came but a leave to send the body.
    func lostKeptConnection(_ code: Int32) -> Bool {
      if wasToStartAgain || hasUnasked { return true }
      guard [CCURL_GOT_NOTHING, CCURL_SEND_ERROR, CCURL_RECEIVE_ERROR].contains(Int(code)) else { return false }
      return answer.status < 200 && ccurl_easy_get_long(easy, Int32(CCURL_NUM_CONNECTS)) == 0
    }

    /// Takes the next bytes of a body that is made while it is sent: what libcurl is to hear.
    func send(from pump: ChunkPump, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      switch pump.read(into: buffer) {
      case .bytes(let count): return count
      case .end: return 0
      case .wait:
        isSendPaused = true
        return Int(CCURL_READ_PAUSE)
      case .failure(let error):
        bodyFailure = error
        return Int(CCURL_READ_ABORT)
      }
    }

    /// Takes a line of a head; `false` when the heads are larger than allowed.
    func receiveHead(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      let wasComplete = answer.isHeadComplete
      guard answer.headerLine(line) else { return false }
      // No more head follows a change of protocol, and what does is no HTTP.
      if answer.status == 101, line.first == 0x0d || line.first == 0x0a { return refuseBodyBeforeHead() }
      if !wasComplete, answer.isHeadComplete { return headCompleted() }
      return true
    }

    /// `false` when the head breaks a rule that libcurl does not watch.
    private func headCompleted() -> Bool {
      guard let transfer else { return true }
      if let problem = answer.lengthProblem {
        // Where a body ends must not be a matter of opinion (RFC 9112 §6.3).
        abortReason = problem + "; look at the server"
        return false
      }
      transfer.hop.chosenOptions?.value.cookies?.store(answer.headers, from: transfer.hop.url)
      if (300..<400).contains(answer.status) {
        let decision = RedirectPolicy.decide(
          original: transfer.request, hop: transfer.hop, status: answer.status, headers: answer.headers,
          trail: transfer.trail, cookies: cookiesSent)
        if case .deliver = decision {} else { redirect = decision }
      }
      if redirect == nil, !mayBeSentAgain { deliverHead() }
      return true
    }

    /// Whether the request is to be sent again without an expectation (RFC 9110 §15.5.18).
    var mayBeSentAgain: Bool { expectsContinue && answer.status == 417 }

    /// Hands the head on to who waits for it, if that has not happened.
    func deliverHead() {
      guard let transfer else { return }
      transfer.deliverHead {
        Response(
          request: transfer.request, url: transfer.hop.url, status: answer.status, headers: answer.headers,
          redirects: transfer.trail.redirects)
      }
    }

    private func refuseBodyBeforeHead() -> Bool {
      abortReason = "the status \(answer.status) came where an answer was to come; look at the server"
      return false
    }

    /// Takes a piece of a body: what libcurl is to hear.
    func receiveBody(_ bytes: UnsafeRawPointer, _ length: Int) -> Int {
      // No body goes before its head.
      guard answer.isHeadComplete else { return refuseBodyBeforeHead() ? length : 0 }
      if redirect != nil {
        dropped += length
        hasLeftBody = dropped > Self.maxDropped
        return hasLeftBody ? 0 : length
      }
      guard let transfer, let gate = transfer.gate else { return answer.append(bytes, length) ? length : 0 }
      if mayBeSentAgain { return length }
      if gate.isPaused {
        isPaused = true
        return Int(CCURL_WRITE_PAUSE)
      }
      if transfer.deliver(bytes, length) { return length }
      answer.noteTooLarge()
      return 0
    }

    /// Whether libcurl waits for the request's own body.
    var awaitsBody: Bool { isSendPaused }

    /// Lets libcurl go on, with what is not paused any more: it hands out what it held at once.
    ///
    /// - Returns: why the transfer can't go on, as libcurl says it here alone; 0 where it can.
    func unpause() -> Int32 {
      guard isPaused || isSendPaused else { return 0 }
      isPaused = isPaused && transfer?.gate?.isPaused == true
      isSendPaused = false
      let code = ccurl_easy_pause(easy, Int32(isPaused ? CCURL_PAUSE_RECV : CCURL_PAUSE_NONE))
      // A request that is being sent again has no connection yet, which ends nothing.
      return code == CCURL_BAD_ARGUMENT ? 0 : code
    }

    /// Lets go of the transfer; a handle that did more than a plain GET forgets everything.
    func release() {
      transfer = nil
      redirect = nil
      body = nil
      pump?.stop()
      pump = nil
      answer.discard()
      guard needsReset else { return }
      needsReset = false
      ccurl_easy_reset(easy)
      headerList = nil
      setUp()
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
