#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// What libcurl is told of a request, and what it is given of the request's body.
  extension CurlHandle {
    /// Bodies up to this size go out in one packet with their head; larger ones are read as they are sent.
    private static let inlineBody = 1 << 16

    /// Above it, a body that the server does not want is dearer than asking first; libcurl's own limit, too.
    private static let expectationSize: Int64 = 1 << 20

    /// What a socket takes at once, even where the connection is slow.
    private static let longHead = 1 << 14

    func prepareContent(_ transfer: CurlTransfer) throws(NetworkError) {
      let request = transfer.currentRequest
      let isPlain =
        request.method == .get && request.body.isEmpty && request.chosenOptions?.value.cookies == nil
        && transfer.hopURL.utf8.count < Self.longHead
      if isPlain, let plainHead, plainHead.headers == request.headers {
        ccurl_easy_set_pointer(easy, option(CCURL_HTTPHEADER), plainHead.list.head)
        headersSent = request.headers
        return
      }
      let (removed, added) = try prepareMethodAndBody(request)
      let cookies = request.jarCookies
      guard headersSent != request.headers || cookiesSent != cookies || !removed.isEmpty || added != HTTPHeaders()
      else { return }
      var fields = added == HTTPHeaders() ? request.headers : request.headers.merging(added)
      // A caller with a coding of their own gets the body as it comes.
      if fields["Accept-Encoding"] == nil, !CurlLibrary.codings.isEmpty {
        fields.append("Accept-Encoding", CurlLibrary.codings)
      }
      if let cookies { fields.append("Cookie", cookies) }
      let list = CurlHeaderList(fields, removed: removed)
      ccurl_easy_set_pointer(easy, option(CCURL_HTTPHEADER), list.head)
      let closes = request.headers.values(of: "Connection").contains(where: Self.asksToClose)
      if closes {
        needsReset = true
        set(CCURL_FORBID_REUSE, 1)
      }
      if isPlain, !closes, removed.isEmpty { plainHead = (request.headers, list) }
      headerList = list
      headersSent = request.headers
      cookiesSent = cookies
    }

    /// Whether a Connection field has the option "close" (RFC 9112 §9.6).
    private static func asksToClose(_ value: String) -> Bool {
      value.split(separator: ",").contains { $0.trimmingBlanks.lowercased() == "close" }
    }

    /// How long a server is waited for that does not respond to an expectation: half of libcurl's second, once for each
    /// origin.
    private static let expectationMilliseconds = 500

    /// Method and body; gives the header lines libcurl must not add, and those it must.
    func prepareMethodAndBody(
      _ request: Request
    ) throws(NetworkError) -> (removed: [String], added: HTTPHeaders) {
      let sendsLength = [.post, .put, .patch].contains(request.method)
      if request.body.isEmpty, CurlLibrary.losesLongHeads, request.method != .head, isLong(request) {
        return prepareLongHead(request, sendsLength)
      }
      if request.body.isEmpty, !sendsLength {
        guard request.method != .get else { return ([], [:]) }
        needsReset = true
        if request.method == .head { set(CCURL_NOBODY, 1) } else { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
        return ([], [:])
      }
      needsReset = true
      set(CCURL_POST, 1)
      if request.method != .post { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
      let count = try prepareBody(request)
      var (removed, added): ([String], HTTPHeaders) = ([], [:])
      // libcurl would call every body a form.
      if request.headers["Content-Type"] == nil { removed.append("Content-Type") }
      if count == nil { added["Transfer-Encoding"] = "chunked" }
      if request.headers["Expect"] == nil {
        expectsContinue =
          (count.map { $0 > Self.expectationSize } ?? true) && transfer?.lane?.ignoresExpectations != true
        if expectsContinue {
          set(CCURL_EXPECT_100_TIMEOUT_MS, Self.expectationMilliseconds)
        } else {
          removed.append("Expect")
        }
      }
      return (removed, added)
    }

    private func isLong(_ request: Request) -> Bool {
      let fields = request.headers.reduce(transfer?.hopURL.utf8.count ?? 0) {
        $0 + $1.name.utf8.count + $1.value.utf8.count + 4
      }
      return fields > Self.longHead
    }

    /// libcurl 7 forgets the rest of a head that a socket has taken in two parts, where it knows the body to be empty: it
    /// compares how much of the body has gone with 0. So it hears of a body of unknown length, which is empty.
    private func prepareLongHead(_ request: Request, _ sendsLength: Bool) -> (removed: [String], added: HTTPHeaders) {
      needsReset = true
      set(CCURL_UPLOAD, 1)
      set(CCURL_CUSTOMREQUEST, request.method.rawValue)
      readBody(count: -1)
      return (["Transfer-Encoding", "Expect"], sendsLength ? ["Content-Length": "0"] : [:])
    }

    /// Gives the length, `nil` where it is not known.
    private func prepareBody(_ request: Request) throws(NetworkError) -> Int64? {
      switch request.body {
      case .none:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), 0)
        set(CCURL_COPYPOSTFIELDS, "")
        return 0
      case .data(let data) where data.count <= Self.inlineBody:
        ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), Int64(data.count))
        data.withUnsafeBytes { bytes in
          _ = bytes.baseAddress.map { set(CCURL_COPYPOSTFIELDS, $0) } ?? set(CCURL_COPYPOSTFIELDS, "")
        }
        return Int64(data.count)
      case .data(let data): return read(from: BodySource(data))
      case .stream(let stream): return read(from: stream)
      case .file(let file):
        if let files = transfer?.files { return read(from: files) }
        return read(from: try BodySource(parts: [.file(file)], of: request))
      case .parts(let parts):
        if let files = transfer?.files { return read(from: files) }
        return read(from: try BodySource(parts: parts, of: request))
      }
    }

    private func read(from stream: Request.BodyStream) -> Int64? {
      pump = ChunkPump(stream) { [weak transfer] in transfer?.didResume() }
      readBody(count: stream.count ?? -1)
      return stream.count
    }

    private func read(from source: BodySource) -> Int64 {
      body = source
      readBody(count: source.count)
      return source.count
    }

    private func readBody(count: Int64) {
      ccurl_easy_set_int64(easy, option(CCURL_POSTFIELDSIZE_LARGE), count)
      set(CCURL_READDATA, place)
      set(CCURL_SEEKDATA, place)
      ccurl_easy_set_data_callback(easy, option(CCURL_READFUNCTION), CurlCallbacks.sendBody)
      ccurl_easy_set_seek_callback(easy, option(CCURL_SEEKFUNCTION), CurlCallbacks.seekBody)
    }

    /// Takes the next bytes of the body: what libcurl is to hear.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      if !hasBodyBegun {
        hasBodyBegun = true
        // The server has let the wait pass: the next body need not wait.
        if expectsContinue, answer.status == 0 { transfer?.lane?.ignoresExpectations = true }
      }
      return pump.map { send(from: $0, into: buffer) } ?? body?.read(into: buffer) ?? 0
    }

    private func send(from pump: ChunkPump, into buffer: UnsafeMutableRawBufferPointer) -> Int {
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

    /// Whether nothing can come in: libcurl waits for the request's own body, or for the server's leave to send it.
    var isWaitingToSend: Bool { isSendPaused || (expectsContinue && !hasBodyBegun && answer.status == 0) }
  }
#endif
