#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// What is known of the HTTP/2 connections of a loop, by their numbers: what libcurl says in its debug output alone.
  struct HTTP2Watch {
    private struct Connection {
      /// The last stream that a GOAWAY includes.
      var lastStream: UInt64?
      /// Whether it is given up when its streams have ended, for a reason that is known.
      var isRetired = false
    }

    /// So many of the newest are remembered.
    private static let capacity: UInt64 = 512
    private var connections: [UInt64: Connection] = [:]

    private mutating func change(_ number: UInt64, _ change: (inout Connection) -> Void) {
      guard number > 0 else { return }
      change(&connections[number, default: Connection()])
      if connections.count > Self.capacity {
        connections = connections.filter { $0.key + Self.capacity / 2 > number }
      }
    }

    /// Notes a GOAWAY: what came above `lastStream` was not and will not be processed (RFC 9113 §6.8).
    mutating func noteGoaway(_ number: UInt64, lastStream: UInt64) {
      change(number) { connection in
        connection.lastStream = Swift.min(connection.lastStream ?? .max, lastStream)
        connection.isRetired = true
      }
    }

    mutating func noteRetired(_ number: UInt64) { change(number) { $0.isRetired = true } }

    func isRetired(_ number: UInt64) -> Bool { connections[number]?.isRetired == true }

    /// Whether a GOAWAY has excluded `stream`.
    func excludes(_ stream: UInt64, on number: UInt64) -> Bool {
      connections[number]?.lastStream.map { stream > $0 } ?? false
    }
  }

  extension CurlHandle {
    /// Whether libcurl's debug output is needed: it alone tells of a request that the server has refused unprocessed, of a head
    /// that did not go out and, before 8.0, whether a connection was given up for a good reason.
    func needsDebugOutput(_ transfer: CurlTransfer) -> Bool {
      CurlLibrary.missesEndOfStream || CurlLibrary.sendsHeadsTwice || !transfer.maySendTwice
    }

    /// Has libcurl say what it does with HTTP/2.
    func listen() {
      needsReset = true
      isListening = true
      setDebugCallback()
      set(CCURL_VERBOSE, 1)
    }

    func setDebugCallback() {
      set(CCURL_DEBUGDATA, place)
      ccurl_easy_set_debug_callback(easy, option(CCURL_DEBUGFUNCTION), CurlCallbacks.hearDebugText)
    }

    /// Takes a line of libcurl's debug output, with the words that it has from 7.80 to 8.14.
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
        transfer?.loop.http2.noteGoaway(place.pointee.connection, lastStream: last)
      default: break
      }
    }

    /// libcurl takes the head, none of which has gone out yet, for unsent. On HTTP/2 it is in the connection's queue and would
    /// be sent again, as the beginning of the body. Without a body, nothing is sent behind it.
    func noteUnsentHead() {
      guard CurlLibrary.sendsHeadsTwice, stream > 0, !isHeadUnsent, let transfer, !transfer.currentRequest.body.isEmpty
      else {
        return
      }
      isHeadUnsent = true
      endCode = CCURL_SEND_ERROR
      // Until the loop takes the transfer from libcurl.
      ccurl_easy_pause(easy, Int32(CCURL_PAUSE_SEND | (isPaused ? CCURL_PAUSE_RECV : 0)))
      transfer.loop.noteToEnd(transfer)
    }

    /// libcurl is about to send the request again. Of a stream that was refused on a kept connection it says, too, that the
    /// connection has died; but then nothing has ended that, and no error was noted.
    private func noteRestart(isNamed: Bool) {
      let isStreamAlone =
        (CurlLibrary.failsAtEndOfConnection || place.pointee.is_watched) && errorText.pointee == 0
        && ccurl_multi_end(multi, place) == CCURL_END_NONE
      guard isNamed || isExcluded || isStreamAlone else { return }
      isRefused = true
      transfer?.loop.http2.noteRetired(place.pointee.connection)
    }

    /// Whether a GOAWAY says that the request was not processed.
    var isExcluded: Bool {
      stream > 0 && transfer?.loop.http2.excludes(stream, on: place.pointee.connection) == true
    }

    private static func number(in text: String, behind words: String) -> UInt64? {
      text.firstRange(of: words).flatMap { UInt64(text[$0.upperBound...].prefix { $0.isNumber }) }
    }
  }
#endif
