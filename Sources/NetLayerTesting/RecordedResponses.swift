import NetLayerRecording
import PortableFoundation

/// The responses of a recording by method, URL and body, without secrets.
struct RecordedResponses: Sendable {
  /// The properties that a request must share with a recorded one.
  private struct Key: Hashable, Sendable {
    var method: String
    var url: String
    var body: String?

    init(method: String, url: URL, body: HAREntry.SentBody, _ redaction: Redaction) {
      self.method = method
      self.body = body.key(redaction)
      // A browser writes the path "/" where a request may have none.
      var text = redaction.redacted(url).prefix { $0 != "#" }
      if url.path.isEmpty, let end = text.firstRange(of: "://").map({ text[$0.upperBound...] }) {
        let path = end.firstIndex(of: "?") ?? text.endIndex
        text.insert("/", at: path)
      }
      // The opening request of a WebSocket is an HTTP request.
      self.url = text.hasPrefix("ws") ? "http" + text.dropFirst(2) : String(text)
    }
  }

  /// The secrets in addition to those of the backend.
  private let redaction: Redaction
  private let responses: [Key: StubTransport.StubbedResponse]

  /// Creates the responses of `entries`, which may have been recorded with fewer rules than `redaction` has.
  ///
  /// - Throws: `NetworkError` of kind `file` if the recording can't be replayed.
  init(_ entries: [HAREntry], of file: URL, redaction own: Redaction) throws(NetworkError) {
    redaction = own
    let redaction = own == .inherited ? .standard : own
    var lists: [Key: [StubTransport.StubbedResponse]] = [:]
    for entry in entries {
      if let reason = entry.missingBody {
        throw NetworkError(kind: .file, reason: "the HAR file \(file.path) can't be replayed: \(reason)")
      }
      guard let url = URL(text: entry.url) else { continue }
      let key = Key(method: entry.method, url: url, body: entry.requestBody, redaction)
      lists[key, default: []].append(entry.stubbed(redaction))
    }
    responses = lists.mapValues(StubTransport.StubbedResponse.sequence)
  }

  func contains(_ request: Request) -> Bool { find(request) != nil }

  /// Returns the next response to `request`: the one recorded for its body, or one that was recorded without a body to
  /// compare. Follows redirects to recorded requests.
  func next(for request: Request) -> StubTransport.StubbedResponse? {
    guard var found = find(request)?.chosen() else { return nil }
    var (current, trail) = (request, RedirectTrail())
    while case .success(let response) = found.result(current) {
      let decision = RedirectPolicy.decide(
        original: request, currentRequest: current, status: response.status, headers: response.headers, trail: trail)
      switch decision {
      case .follow(let next, let longer):
        guard let following = find(next)?.chosen() else { return found }
        (current, trail, found) = (next, longer, following.after(longer.redirects, at: next.url))
      case .fail(let error): return StubTransport.StubbedResponse(delay: .zero) { _ in .failure(error) }
      case .deliver: return found
      }
    }
    return found
  }

  private func find(_ request: Request) -> StubTransport.StubbedResponse? {
    // A recording of this network hides what its backend does; one of a browser may contain it.
    for redaction in [request.redaction(adding: redaction), redaction == .inherited ? .standard : redaction] {
      var key = Key(
        method: request.method.rawValue, url: request.url, body: .init(request, redaction: redaction), redaction)
      if let response = responses[key] { return response }
      key.body = nil
      if let response = responses[key] { return response }
    }
    return nil
  }
}

extension StubTransport.StubbedResponse {
  /// Returns the same response at the end of redirects.
  fileprivate func after(_ redirects: [Response.Redirect], at url: URL) -> Self {
    var copy = self
    copy.result = { [result] request in
      result(request).map { response in
        var response = response
        (response.redirects, response.url) = (redirects, url)
        return response
      }
    }
    return copy
  }
}

extension HAREntry {
  /// The response or error as a stub delivers it.
  fileprivate func stubbed(_ redaction: Redaction) -> StubTransport.StubbedResponse {
    // Also a response that was cut, whose body a browser does not keep.
    if status == 0 || failure?.kind == NetworkError.Kind.connection.rawValue {
      let failure = failure ?? Failure(kind: "connection", reason: "recorded failure")
      return .failure(NetworkError.Kind(rawValue: failure.kind), reason: failure.reason)
    }
    if let fullCount, fullCount > body.count {
      return .failure(
        .file, reason: "the recording has only \(body.count) of the \(fullCount) bytes of the response to \(url)")
    }
    let (headers, body) = (redaction.redacted(responseHeaders), redaction.body(body))
    guard status == 101 else {
      return .response(status: status, headers: headers, body: body)
    }
    let steps = messages.filter { !$0.isSent }.compactMap { message -> StubTransport.WebSocketScript.Step? in
      switch message.opcode {
      case 1: .message(.text(message.data))
      case 2: Data(base64Encoded: message.data).map { .message(.binary($0)) }
      default: nil
      }
    }
    return .socket(StubTransport.WebSocketScript(steps), headers: headers)
  }
}

extension StubTransport {
  /// Creates a stub that replays the responses of a HAR file: of a `RecordingTransport` or a `Recorder`, or saved by a
  /// browser, mitmproxy, Charles, Proxyman or Playwright.
  ///
  /// ```swift
  /// let stub = try StubTransport(har: file)
  /// ```
  /// Requests are matched by method, URL and body, without secrets. The responses of equal requests are replayed in the
  /// recorded order; the last one is repeated. Bodies that the file does not contain, such as files and streams, are not
  /// compared. Redirects to recorded requests are followed. A WebSocket delivers the received messages immediately.
  ///
  /// - Parameters:
  ///   - file: The file, of at most 256 MB.
  ///   - redaction: The secrets to ignore in requests and to hide in responses, in addition to those of the backend.
  /// - Throws: `NetworkError` of kind `file` if the file can't be read, is not a HAR file, or has its bodies in other
  ///   files.
  public convenience init(har file: URL, redaction: Redaction = .inherited) throws(NetworkError) {
    let recorded = try RecordedResponses(HARReader.entries(of: file), of: file, redaction: redaction)
    self.init { recorded.next(for: $0) }
  }
}
