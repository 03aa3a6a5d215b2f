#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The settings of a request, and the transfer of its body to libcurl.
  extension CurlHandle {
    /// The maximum size of a body that is sent in one packet with its head. Larger bodies are read during the upload.
    private static let inlineBody = 1 << 16

    /// The size in bytes above which sending an unwanted body costs more than asking first. Equal to libcurl's own
    /// limit.
    private static let expectationSize: Int64 = 1 << 20

    func prepareContent(_ transfer: CurlTransfer, _ headers: HTTPHeaders) throws(NetworkError) {
      let request = transfer.currentRequest
      let isPlain =
        request.method == .get && request.body.isEmpty && request.chosenOptions?.value.cookies == nil
        && transfer.currentURL.utf8.count < Self.longHead
      if isPlain, let lastPlainGet, lastPlainGet.headers == headers {
        ccurl_easy_set_pointer(easy, CURLOPT_HTTPHEADER, lastPlainGet.list.head)
        settings.headersSent = headers
        settings.cookiesSent = nil
        return
      }
      let (removed, added) = try prepareMethodAndBody(request)
      let cookies = request.jarCookies
      guard
        settings.headersSent != headers || settings.cookiesSent != cookies || !removed.isEmpty
          || added != HTTPHeaders()
      else { return }
      var fields = added == HTTPHeaders() ? headers : headers.merging(added)
      // A caller who sets `Accept-Encoding` gets the body unchanged.
      if fields["Accept-Encoding"] == nil {
        // A range of coded content can't be decoded.
        let codings = fields["Range"] == nil ? CurlLibrary.codings : "identity"
        if !codings.isEmpty { fields.append("Accept-Encoding", codings) }
      }
      if let cookies { fields.append("Cookie", cookies) }
      let list = CurlHeaderList(fields, removed: removed)
      ccurl_easy_set_pointer(easy, CURLOPT_HTTPHEADER, list.head)
      let closes = headers.values(of: "Connection").contains(where: Self.asksToClose)
      if closes {
        settings.needsReset = true
        set(CURLOPT_FORBID_REUSE, 1)
      }
      if isPlain, !closes, removed.isEmpty { lastPlainGet = (headers, list) }
      settings.headerList = list
      settings.headersSent = headers
      settings.cookiesSent = cookies
    }

    /// Returns whether a Connection field contains the option "close" (RFC 9112 §9.6).
    private static func asksToClose(_ value: String) -> Bool {
      value.split(separator: ",").contains { $0.trimmingBlanks.lowercased() == "close" }
    }

    /// The time limit for the response to an expectation: half of libcurl's second, applied once per origin.
    private static let expectationMilliseconds = 500

    /// Sets the method and the body. Returns the header fields that libcurl must not add, and those to add.
    func prepareMethodAndBody(
      _ request: Request
    ) throws(NetworkError) -> (removed: [String], added: HTTPHeaders) {
      let sendsLength = [.post, .put, .patch].contains(request.method)
      if request.body.isEmpty, CurlLibrary.losesLongHeads, request.method != .head, isLong(request) {
        return prepareLongHead(request, sendsLength)
      }
      if request.body.isEmpty, !sendsLength {
        guard request.method != .get else { return ([], [:]) }
        settings.needsReset = true
        if request.method == .head {
          set(CURLOPT_NOBODY, 1)
        } else {
          set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        return ([], [:])
      }
      settings.needsReset = true
      set(CURLOPT_POST, 1)
      if request.method != .post { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
      let count = try prepareBody(request)
      var (removed, added): ([String], HTTPHeaders) = ([], [:])
      // Otherwise, libcurl declares every body to be a form.
      if request.headers["Content-Type"] == nil { removed.append("Content-Type") }
      if count == nil { added["Transfer-Encoding"] = "chunked" }
      if request.headers["Expect"] == nil {
        attempt.expectsContinue =
          (count.map { $0 > Self.expectationSize } ?? true) && transfer?.lane?.ignoresExpectations != true
        if attempt.expectsContinue {
          set(CURLOPT_EXPECT_100_TIMEOUT_MS, Self.expectationMilliseconds)
        } else {
          removed.append("Expect")
        }
      }
      return (removed, added)
    }

    /// Sets the body and returns its length; `nil` if it is unknown.
    private func prepareBody(_ request: Request) throws(NetworkError) -> Int64? {
      switch request.body {
      case .none:
        ccurl_easy_set_int64(easy, CURLOPT_POSTFIELDSIZE_LARGE, 0)
        set(CURLOPT_COPYPOSTFIELDS, "")
        return 0
      case .data(let data) where data.count <= Self.inlineBody:
        ccurl_easy_set_int64(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(data.count))
        data.withUnsafeBytes { bytes in
          _ = bytes.baseAddress.map { set(CURLOPT_COPYPOSTFIELDS, $0) } ?? set(CURLOPT_COPYPOSTFIELDS, "")
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
      attempt.pump = ChunkPump(stream) { [weak transfer] in transfer?.didResume() }
      set(bodySize: stream.count ?? -1)
      return stream.count
    }

    private func read(from source: BodySource) -> Int64 {
      attempt.body = source
      set(bodySize: source.count)
      return source.count
    }

    /// Sets the size of a body that libcurl reads through the callback; -1 if it is unknown.
    func set(bodySize: Int64) { ccurl_easy_set_int64(easy, CURLOPT_POSTFIELDSIZE_LARGE, bodySize) }

    /// Copies the next bytes of the body into `buffer`, and returns the result for libcurl.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      if !attempt.hasBodyBegun {
        attempt.hasBodyBegun = true
        // The wait has expired without a response. The next body need not wait.
        if attempt.expectsContinue, response.status == 0 { transfer?.lane?.ignoresExpectations = true }
      }
      return attempt.pump.map { send(from: $0, into: buffer) } ?? attempt.body?.read(into: buffer) ?? 0
    }

    private func send(from pump: ChunkPump, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      switch pump.read(into: buffer) {
      case .bytes(let count): return count
      case .end: return 0
      case .wait:
        attempt.isSendPaused = true
        return CURL_READFUNC_PAUSE
      case .failure(let error):
        attempt.bodyFailure = error
        return CURL_READFUNC_ABORT
      }
    }

    /// Whether nothing can arrive, because libcurl waits for the request's body or for the server's `100 Continue`.
    var isWaitingToSend: Bool {
      attempt.isSendPaused || (attempt.expectsContinue && !attempt.hasBodyBegun && response.status == 0)
    }
  }
#endif
