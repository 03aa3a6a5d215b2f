#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// The state of the loop's HTTP/2 connections by number, which libcurl reports only in its debug output.
  struct HTTP2Watch {
    private struct Connection {
      /// The last stream that a GOAWAY accepts.
      var lastStream: UInt64?
      /// Whether the connection closes for a known reason when its streams have ended.
      var isRetired = false
    }

    /// The number of most recent connections to remember.
    private static let capacity: UInt64 = 512
    private var connections: [UInt64: Connection] = [:]

    private mutating func change(_ number: UInt64, _ change: (inout Connection) -> Void) {
      guard number > 0 else { return }
      change(&connections[number, default: Connection()])
      if connections.count > Self.capacity {
        connections = connections.filter { $0.key + Self.capacity / 2 > number }
      }
    }

    /// Records a GOAWAY: the server has not processed streams above `lastStream`, and will not (RFC 9113 §6.8).
    mutating func noteGoaway(_ number: UInt64, lastStream: UInt64) {
      change(number) { connection in
        connection.lastStream = Swift.min(connection.lastStream ?? .max, lastStream)
        connection.isRetired = true
      }
    }

    mutating func noteRetired(_ number: UInt64) { change(number) { $0.isRetired = true } }

    func isRetired(_ number: UInt64) -> Bool { connections[number]?.isRetired == true }

    /// Returns whether a GOAWAY has excluded `stream`.
    func excludes(_ stream: UInt64, on number: UInt64) -> Bool {
      connections[number]?.lastStream.map { stream > $0 } ?? false
    }
  }

  extension CurlHandle {
    /// Returns whether libcurl's debug output is needed. Only there, libcurl reports that the server has not
    /// processed a request, that a head was not sent and, before 8.0, why a connection was closed.
    func needsDebugOutput(_ transfer: CurlTransfer) -> Bool {
      CurlLibrary.missesEndOfStream || CurlLibrary.sendsHeadsTwice || !transfer.maySendTwice
    }

    /// Enables libcurl's debug output.
    func listen() {
      needsReset = true
      isListening = true
      setDebugCallback()
      set(CCURL_VERBOSE, 1)
    }

    func setDebugCallback() {
      set(CCURL_DEBUGDATA, connectionData)
      ccurl_easy_set_debug_callback(easy, option(CCURL_DEBUGFUNCTION), CurlCallbacks.hearDebugText)
    }

    /// Processes a line of libcurl's debug output. The texts match versions 7.80 to 8.14.
    func hear(_ line: UnsafeRawBufferPointer) {
      switch line.first {
      case UInt8(ascii: "U"), UInt8(ascii: "["):
        let text = String(decoding: line, as: UTF8.self)
        stream =
          Self.number(in: text, behind: "Using Stream ID: ") ?? Self.number(in: text, behind: "[HTTP/2] [") ?? stream
      case UInt8(ascii: "R"), UInt8(ascii: "C"):
        let isNamed = line.starts(with: "REFUSED_STREAM, retrying".utf8)
        if isNamed || line.starts(with: "Connection died, retrying".utf8) { noteRestart(isNamed: isNamed) }
      case UInt8(ascii: "r"):
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("GOAWAY, error="), let last = Self.number(in: text, behind: "last_stream=") else { return }
        transfer?.loop.http2.noteGoaway(connectionData.pointee.connection, lastStream: last)
      default: break
      }
    }

    /// Records that libcurl believes the head to be unsent. On HTTP/2, the head is in the connection's queue and would
    /// be sent again, as the start of the body. Without a body, nothing is sent after it.
    func noteUnsentHead() {
      guard CurlLibrary.sendsHeadsTwice, stream > 0, !isHeadUnsent, let transfer, !transfer.currentRequest.body.isEmpty
      else {
        return
      }
      endCode = CCURL_SEND_ERROR
      // The pause lasts until the loop removes the transfer from libcurl.
      ccurl_easy_pause(easy, Int32(CCURL_PAUSE_SEND | (isPaused ? CCURL_PAUSE_RECV : 0)))
      transfer.loop.noteToEnd(transfer)
    }

    /// Records that libcurl is about to resend the request. If a stream was refused on a reused connection, libcurl
    /// also reports that the connection died. In that case, the connection has not ended, and libcurl has set no error.
    private func noteRestart(isNamed: Bool) {
      let isStreamAlone =
        (CurlLibrary.failsAtEndOfConnection || connectionData.pointee.is_watched) && errorText.pointee == 0
        && ccurl_multi_end(multi, connectionData) == CCURL_END_NONE
      guard isNamed || isExcluded || isStreamAlone else { return }
      isStartUnprocessed = true
      transfer?.loop.http2.noteRetired(connectionData.pointee.connection)
    }

    /// Whether a GOAWAY excludes the request.
    var isExcluded: Bool {
      stream > 0 && transfer?.loop.http2.excludes(stream, on: connectionData.pointee.connection) == true
    }

    private static func number(in text: String, behind words: String) -> UInt64? {
      text.firstRange(of: words).flatMap { UInt64(text[$0.upperBound...].prefix { $0.isNumber }) }
    }
  }
#endif
