#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  // Bug: a used easy handle keeps a pointer to a freed header field. libcurl follows it if the first field line of
  // a response begins with whitespace.
  // Issue: curl 11103. Versions: 7.83 to 8.1.0.
  // Hooks: `CurlCallbacks.receiveHeader`, `CurlHandle.setUp`, `CurlHandle.isReusable`.
  // Test: `CurlProtocolTests.test_aFoldedFirstLineOfAHeadIsRejectedWithoutAffectingOtherRequests`.
  // Delete this file when 8.1.1 is the oldest supported version.

  extension CurlLibrary {
    static let keepsFreedFields = (0x07_5300...0x08_0100).contains(version)
  }

  extension CurlHandle {
    func setDebugCallback() {
      set(CURLOPT_DEBUGDATA, connectionData)
      ccurl_easy_set_debug_callback(easy, CURLOPT_DEBUGFUNCTION, CurlCallbacks.receiveDebugText)
    }

    /// Enables libcurl's debug output after a status line, so that libcurl shows the next line before it uses it.
    func awaitFirstField(after line: UnsafeMutablePointer<CChar>, _ count: Int) {
      guard count > 5, memcmp(line, "HTTP/", 5) == 0 else { return }
      reception.firstField = .awaited
      set(CURLOPT_VERBOSE, 1)
    }

    /// Ends the transfer if `first`, the first byte of a line that libcurl has not used yet, starts a folded first field.
    func checkFirstField(_ first: UInt8) {
      guard reception.firstField == .awaited, let transfer else { return }
      reception.firstField = .shown
      set(CURLOPT_VERBOSE, 0)
      guard first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else { return }
      attempt.abortReason = "the first header field of the response begins with whitespace; check the server"
      attempt.endCode = CURLE_WRITE_ERROR
      // During a pause, libcurl buffers received data without parsing it.
      ccurl_easy_pause(easy, Int32(CURLPAUSE_RECV | (attempt.isSendPaused ? CURLPAUSE_SEND : 0)))
      transfer.loop.noteToEnd(transfer)
    }

    /// Whether libcurl showed the first field in time, so that the pointer was never followed.
    var hasCheckedFirstField: Bool { reception.firstField == .shown && attempt.endCode == nil }
  }

  extension CurlCallbacks {
    static let receiveDebugText: ccurl_debug_callback = { _, kind, text, _, context in
      guard kind == Int32(CURLINFO_HEADER_IN), let handle = handle(context), let text else { return 0 }
      handle.checkFirstField(UInt8(bitPattern: text.pointee))
      return 0
    }
  }
#endif
