#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlHandle {
    /// The maximum size of a redirect's body that is read and dropped to keep the connection. For larger bodies, a new
    /// connection is cheaper.
    private static let maxDropped = 1 << 16

    /// The size of the buffer for decoded content, and therefore the maximum size of the chunks that a consumer
    /// receives.
    static let chunkSize = 1 << 16

    /// Processes a line of a head or a trailer. Returns `false` if the transfer must end.
    func receiveHead(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      // Only an empty line ends a head.
      let mayEndHead = line.first == 0x0d || line.first == 0x0a
      let wasComplete = mayEndHead && response.isHeadComplete
      guard response.headerLine(line) else {
        attempt.abortReason =
          (response.problem ?? "the response header is larger than \(CurlResponse.maxHeadSize) bytes")
          + "; check the server"
        return false
      }
      guard mayEndHead else { return true }
      // After a protocol switch, no further head follows, and the data is not HTTP.
      if response.status == 101 { return rejectBodyBeforeHead() }
      return wasComplete || !response.isHeadComplete || headCompleted()
    }

    /// Processes a complete head. Returns `false` if it violates a rule that libcurl does not check.
    private func headCompleted() -> Bool {
      guard let transfer else { return true }
      if let problem = response.problem {
        // The end of the body must be unambiguous (RFC 9112 §6.3).
        attempt.abortReason = problem + "; check the server"
        return false
      }
      transfer.currentRequest.chosenOptions?.value.cookies?.store(response.headers, from: transfer.currentRequest.url)
      if let seconds = response.keepAlive { transfer.lane?.note(keepAlive: seconds) }
      if (300..<400).contains(response.status) {
        let decision = RedirectPolicy.decide(
          original: transfer.request, currentRequest: transfer.currentRequest, status: response.status,
          headers: response.headers, trail: transfer.trail,
          isUnixSocket: configuration.directory.isUnixSocket)
        if case .deliver = decision {} else { reception.redirect = decision }
      }
      // A body that is read and dropped needs no check of its end.
      if reception.redirect == nil {
        let limit = transfer.gate == nil ? response.maxBodySize : transfer.maxBodySize
        if response.isAnnouncedTooLarge(limit) {
          response.noteTooLarge()
          return false
        }
        guard prepareDecoder(transfer) else { return false }
        watchCloseNotify(transfer)
        if !needsResend { deliverHead() }
      }
      if !transfer.currentRequest.body.isEmpty { transfer.loop.noteEarlyResponse(transfer) }
      return true
    }

    private func prepareDecoder(_ transfer: CurlTransfer) -> Bool {
      guard response.isCoded, let coding = response.headers["Content-Encoding"], !response.hasNoBody,
        transfer.currentRequest.headers["Accept-Encoding"] == nil
      else { return true }
      do {
        reception.decoder = try ContentDecoder(coding)
        return true
      } catch {
        attempt.abortReason = ((error as? ContentDecoder.Failure)?.reason ?? "\(error)") + "; check the server"
        return false
      }
    }

    /// Whether the request is to be sent again without an expectation (RFC 9110 §15.5.18).
    var needsResend: Bool { attempt.expectsContinue && response.status == 417 }

    /// Delivers the head to the receiver, unless that has already happened.
    func deliverHead() {
      transfer?.deliverHead(response.status, response.headers)
    }

    private func rejectBodyBeforeHead() -> Bool {
      if response.status == 0 {
        attempt.problem = .notHTTP
      } else {
        attempt.abortReason = "the server sent status \(response.status) instead of a final response; check the server"
      }
      return false
    }

    /// Processes a chunk of the body, and returns the result for libcurl.
    func receiveBody(_ bytes: UnsafeRawPointer, _ length: Int) -> Int {
      // A body before its head is an error.
      guard response.isHeadComplete else { return rejectBodyBeforeHead() ? length : 0 }
      if reception.redirect != nil {
        response.noteReceived(length)
        reception.dropped += length
        reception.hasLeftBody = reception.dropped > Self.maxDropped
        return reception.hasLeftBody ? 0 : length
      }
      if reception.isHeld, reception.isResting || transfer?.gate?.isPaused == true {
        // libcurl delivers the same bytes again after the pause.
        reception.isPaused = true
        return CURL_WRITEFUNC_PAUSE
      }
      reception.isHeld = false
      response.noteReceived(length)
      if needsResend { return length }
      guard let decoder = reception.decoder else { return take(bytes, length) ? length : 0 }
      decoder.feed(bytes, length)
      return decode() ? length : 0
    }

    /// Stores or delivers a chunk of decoded content. Returns `false` if the body exceeds its limit.
    private func take(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
      guard let transfer, let gate = transfer.gate else { return response.append(bytes, length) }
      guard transfer.deliver(bytes, length) else {
        response.noteTooLarge()
        return false
      }
      reception.isHeld = gate.isPaused
      return true
    }

    /// Decodes the input until the next pause, or until the end of the turn's work. Returns `false` if the transfer must
    /// end.
    private func decode() -> Bool {
      guard let decoder = reception.decoder else { return true }
      decoder.beginTurn()
      reception.isResting = false
      return withUnsafeTemporaryAllocation(byteCount: Self.chunkSize, alignment: 16) { chunk in
        while !reception.isHeld {
          switch decoder.decode(into: chunk) {
          case .bytes(let count):
            guard let start = chunk.baseAddress, take(start, count) else { return false }
          case .needsInput: return true
          case .turnIsOver: rest()
          case .failure(let reason):
            attempt.abortReason = reason + "; check the server"
            return false
          }
        }
        return true
      }
    }

    /// Holds the rest of the input back until the next turn of the loop.
    private func rest() {
      reception.isHeld = true
      reception.isResting = true
      if let transfer { transfer.loop.decodeNextTurn(transfer) }
    }

    /// Continues after a pause, or after a wait for the request's body. Held content is delivered first.
    ///
    /// - Returns: The code of an error that libcurl reports only here; `CURLE_OK` if the transfer can continue.
    func unpause() -> CURLcode {
      if reception.isHeld, transfer?.gate?.isPaused != true {
        reception.isHeld = false
        guard decode() else { return CURLE_WRITE_ERROR }
      }
      guard reception.heldCode == nil, reception.isPaused || attempt.isSendPaused else { return CURLE_OK }
      reception.isPaused = reception.isPaused && reception.isHeld
      attempt.isSendPaused = false
      let code = ccurl_easy_pause(easy, Int32(reception.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT))
      // A request that is being sent again has no connection yet, which is not an error.
      return code == CURLE_BAD_FUNCTION_ARGUMENT ? CURLE_OK : code
    }

    /// Whether decoded content is held back by a pause.
    var holdsContent: Bool { reception.isHeld && reception.decoder != nil }

    /// Whether the complete response has been received, according to its head or the connection.
    var isResponseComplete: Bool {
      guard response.isHeadComplete, !reception.isHeld, !reception.isPaused else { return false }
      return response.hasNoBody || response.isComplete || reception.decoder?.isAtEnd == true
        || (!response.isHTTP2 && connectionData.pointee.connection != 0 && !ccurl_multi_reads(multi, connectionData))
    }

    /// The reason why a response that libcurl accepts as complete is not; `nil` if it is complete.
    var incompleteness: String? {
      if let decoder = reception.decoder, !decoder.isAtEnd, decoder.hasInput || response.endsWithConnection {
        return "its content is truncated (\(decoder.names))"
      }
      if lacksCloseNotify {
        return "the TLS connection was closed without a close_notify alert, which is required to detect the end of the "
          + "body (RFC 9112 §9.8)"
      }
      return nil
    }

  }
#endif
