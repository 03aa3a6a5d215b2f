#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// What comes in, and where it goes.
  extension CurlHandle {
    /// A redirect's body is read and dropped, which keeps the connection; beyond this size a new one is cheaper.
    private static let maxDropped = 1 << 16

    /// Where content is decoded to. The largest piece that a consumer gets, too.
    static let pieceSize = 1 << 16

    /// Takes a line of a head or a trailer; `false` when the transfer must end.
    func receiveHead(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      let wasComplete = answer.isHeadComplete
      guard answer.headerLine(line) else {
        abortReason =
          (answer.problem ?? "the head of the response is larger than \(CurlResponse.maxHeadSize) bytes")
          + "; see the server"
        return false
      }
      // No more head follows a change of protocol, and what does is not HTTP.
      if answer.status == 101, line.first == 0x0d || line.first == 0x0a { return refuseBodyBeforeHead() }
      if !wasComplete, answer.isHeadComplete { return headCompleted() }
      return true
    }

    /// Turns on libcurl's debug output after a status line, so that it shows the next line before it uses it.
    ///
    /// A used easy handle of libcurl 7.83 to 8.1.0 has a pointer to a freed header field, which it follows if the first field
    /// line of a response begins with a blank (curl 11103).
    func awaitFirstField(after line: UnsafeMutablePointer<CChar>, _ count: Int) {
      guard count > 5, memcmp(line, "HTTP/", 5) == 0 else { return }
      awaitsFirstField = true
      if !isListening { set(CCURL_VERBOSE, 1) }
    }

    /// Ends the transfer if `first`, the first byte of a line that libcurl has yet to use, begins a folded first field.
    func checkFirstField(_ first: UInt8) {
      guard awaitsFirstField, let transfer else { return }
      awaitsFirstField = false
      showsFirstField = true
      if !isListening { set(CCURL_VERBOSE, 0) }
      guard first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else { return }
      abortReason = "the first header field of the response begins with a blank; see the server"
      endCode = CCURL_WRITE_ERROR
      // libcurl keeps what it receives during a pause for later, unread.
      ccurl_easy_pause(easy, Int32(CCURL_PAUSE_RECV | (isSendPaused ? CCURL_PAUSE_SEND : 0)))
      transfer.loop.noteToEnd(transfer)
    }

    /// `false` when the head breaks a rule that libcurl does not watch.
    private func headCompleted() -> Bool {
      guard let transfer else { return true }
      if let problem = answer.problem {
        // Where a body ends must not be a matter of opinion (RFC 9112 §6.3).
        abortReason = problem + "; see the server"
        return false
      }
      transfer.currentRequest.chosenOptions?.value.cookies?.store(answer.headers, from: transfer.currentRequest.url)
      noteServices(transfer)
      if (300..<400).contains(answer.status) {
        let decision = RedirectPolicy.decide(
          original: transfer.request, currentRequest: transfer.currentRequest, status: answer.status,
          headers: answer.headers,
          trail: transfer.trail, cookies: cookiesSent)
        if case .deliver = decision {} else { redirect = decision }
      }
      // What is read and dropped needs no end of its own.
      if redirect == nil {
        let limit = transfer.gate == nil ? answer.maxBodySize : transfer.maxBodySize
        if answer.isAnnouncedTooLarge(limit) {
          answer.noteTooLarge()
          return false
        }
        guard prepareDecoder(transfer) else { return false }
        if answer.endsWithConnection, transfer.isSecure { ccurl_multi_watch_tls(multi, easy, place) }
        if !mayBeSentAgain { deliverHead() }
      }
      if !transfer.currentRequest.body.isEmpty { transfer.loop.noteEarlyResponse(transfer) }
      return true
    }

    /// Notes whether the origin offers HTTP/3 at its own host and port.
    private func noteServices(_ transfer: CurlTransfer) {
      guard CurlLibrary.speaksHTTP3, transfer.isSecure, let lane = transfer.lane else { return }
      let fields = answer.headers.values(of: "Alt-Svc")
      guard !fields.isEmpty else { return }
      let seconds = AlternativeServices.http3Seconds(fields, port: transfer.currentRequest.url.portInUse)
      lane.http3Until = seconds > 0 ? Deadline.after(seconds, from: transfer.loop.now) : 0
    }

    private func prepareDecoder(_ transfer: CurlTransfer) -> Bool {
      guard answer.isCoded, let coding = answer.headers["Content-Encoding"], !answer.hasNoBody,
        transfer.currentRequest.headers["Accept-Encoding"] == nil
      else { return true }
      do {
        decoder = try ContentDecoder(coding)
        return true
      } catch {
        abortReason = ((error as? ContentDecoder.Failure)?.reason ?? "\(error)") + "; see the server"
        return false
      }
    }

    /// Whether the request is to be sent again without an expectation (RFC 9110 §15.5.18).
    var mayBeSentAgain: Bool { expectsContinue && answer.status == 417 }

    /// Hands the head on to who waits for it, if that has not happened.
    func deliverHead() {
      transfer?.deliverHead(answer.status, answer.headers)
    }

    private func refuseBodyBeforeHead() -> Bool {
      abortReason =
        answer.status == 0
        ? "it did not respond with HTTP; check the port"
        : "the status \(answer.status) came where a response was expected; see the server"
      return false
    }

    /// Takes a piece of a body: what libcurl is to hear.
    func receiveBody(_ bytes: UnsafeRawPointer, _ length: Int) -> Int {
      // No body goes before its head.
      guard answer.isHeadComplete else { return refuseBodyBeforeHead() ? length : 0 }
      if redirect != nil {
        answer.noteReceived(length)
        dropped += length
        hasLeftBody = dropped > Self.maxDropped
        return hasLeftBody ? 0 : length
      }
      if isHeld, transfer?.gate?.isPaused == true {
        // The same bytes come again.
        isPaused = true
        return Int(CCURL_WRITE_PAUSE)
      }
      isHeld = false
      answer.noteReceived(length)
      if mayBeSentAgain { return length }
      guard let decoder else { return take(bytes, length) ? length : 0 }
      decoder.feed(bytes, length)
      return decode() ? length : 0
    }

    /// Hands on a piece of decoded content; `false` when there is more than allowed.
    private func take(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
      guard let transfer, let gate = transfer.gate else { return answer.append(bytes, length) }
      guard transfer.deliver(bytes, length) else {
        answer.noteTooLarge()
        return false
      }
      isHeld = gate.isPaused
      return true
    }

    /// Decodes what has come in, until a pause; `false` when the transfer must end.
    private func decode() -> Bool {
      guard let decoder else { return true }
      return withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
        while !isHeld {
          switch decoder.decode(into: piece) {
          case .bytes(let count):
            guard let start = piece.baseAddress, take(start, count) else { return false }
          case .needsInput: return true
          case .failure(let reason):
            abortReason = reason + "; see the server"
            return false
          }
        }
        return true
      }
    }

    /// Goes on behind a pause or a wait for the request's body, with what was held back first.
    ///
    /// - Returns: why the transfer can't go on, as libcurl says it here alone; 0 where it can.
    func unpause() -> Int32 {
      if isHeld, transfer?.gate?.isPaused != true {
        isHeld = false
        guard decode() else { return Int32(CCURL_WRITE_ERROR) }
      }
      guard heldCode == nil, isPaused || isSendPaused else { return 0 }
      isPaused = isPaused && isHeld
      isSendPaused = false
      let code = ccurl_easy_pause(easy, Int32(isPaused ? CCURL_PAUSE_RECV : CCURL_PAUSE_NONE))
      // A request that is being sent again has no connection yet, which ends nothing.
      return code == CCURL_BAD_ARGUMENT ? 0 : code
    }

    /// Whether decoded content is held back by a pause.
    var holdsContent: Bool { isHeld && decoder != nil }

    /// Whether all of the response has come in, as far as its head or the connection tells.
    var isResponseComplete: Bool {
      guard answer.isHeadComplete, !isHeld, !isPaused else { return false }
      return answer.hasNoBody || answer.isComplete || decoder?.isAtEnd == true
        || (!answer.isHTTP2 && place.pointee.connection != 0 && !ccurl_multi_reads(multi, place))
    }

    /// Why a response that libcurl takes for complete is not; `nil` where it is.
    var incompleteness: String? {
      if let decoder, !decoder.isAtEnd, decoder.hasInput || answer.endsWithConnection {
        return "its content ends in the middle of its coding (\(decoder.names))"
      }
      if answer.endsWithConnection, place.pointee.is_watched, !ccurl_multi_is_notified(multi, place) {
        return "the TLS connection was closed without a close_notify alert, which alone would show the end of the body "
          + "(RFC 9112 §9.8)"
      }
      if answer.isHTTP2, CurlLibrary.missesEndOfStream, !answer.isLengthKnown, !answer.hasNoBody, decoder == nil,
        endedWithConnection
      {
        return "the HTTP/2 connection was closed, and nothing shows the end of the body"
      }
      return nil
    }

    /// Whether the connection has ended with the response, and not the stream alone. libcurl 7 takes that for the end of an
    /// HTTP/2 body, also where it has given up the connection itself for frames that break the rules.
    private var endedWithConnection: Bool {
      if ccurl_multi_end(multi, place) == CCURL_END_IN_ORDER { return true }
      return !ccurl_multi_is_open(multi, place) && transfer?.loop.http2.isRetired(place.pointee.connection) == false
    }
  }
#endif
