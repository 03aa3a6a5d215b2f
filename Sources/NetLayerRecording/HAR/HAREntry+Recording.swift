import PortableFoundation

extension HAREntry {
  /// Creates the entry of `request` and its result, without the request's redirects.
  init(
    _ request: Request, _ result: Result<Response, NetworkError>, started: Date, redaction: Redaction
  ) {
    self.init(method: request.method.rawValue, url: redaction.redacted(request.url.withoutFragment), status: 0)
    self.started = started
    requestHeaders = redaction.redacted(request.headers)
    requestBody = SentBody(request, redaction: redaction)
    let metrics: TransferMetrics?
    switch result {
    case .success(let response):
      status = response.status
      responseHeaders = redaction.redacted(response.headers)
      body = redaction.body(response.body)
      metrics = response.metrics
    case .failure(let error):
      failure = Failure(error, redaction: redaction)
      metrics = error.metrics
    }
    if let metrics { set(metrics) }
  }

  /// Returns the entry without the secrets of `redaction`, for an archive of another program.
  package func redacted(_ redaction: Redaction) -> HAREntry {
    guard !redaction.hidesNothing else { return self }
    var entry = self
    entry.url = URL(text: url).map(redaction.redacted) ?? redaction.redacted(url)
    entry.requestHeaders = redaction.redacted(requestHeaders)
    if case .text(let text, let type) = requestBody { entry.requestBody = .text(redaction.redacted(text), type: type) }
    entry.responseHeaders = redaction.redacted(responseHeaders)
    entry.body = redaction.body(body)
    entry.failure?.reason = redaction.redacted(failure?.reason ?? "")
    entry.messages = messages.map { message in
      var message = message
      message.data =
        message.opcode == 2
        ? Data(base64Encoded: message.data).flatMap { redaction.binaryMessage($0) }?.base64EncodedString() ?? ""
        : redaction.redacted(message.data)
      return message
    }
    entry.events = events.map { event in
      HAREntry.Event(
        time: event.time, name: redaction.redacted(event.name), id: redaction.redacted(event.id),
        data: redaction.redacted(event.data))
    }
    return entry
  }

  private mutating func set(_ metrics: TransferMetrics) {
    time = metrics.total.milliseconds
    timings = Timings(metrics, hasResponse: status > 0)
    httpVersion = metrics.httpVersion.map { "HTTP/\($0)" } ?? ""
    // The last colon precedes the port, also after an IPv6 address.
    address = metrics.remoteAddress.map { address in
      let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
      return String(host).trimming { $0 == "[" || $0 == "]" }
    }
  }
}

extension HAREntry.Timings {
  /// Creates the phases of a transfer. HAR counts TLS within `connect`, `TransferMetrics` does not.
  init(_ metrics: TransferMetrics, hasResponse: Bool) {
    self.init()
    blocked = metrics.queued?.milliseconds ?? -1
    dns = metrics.nameLookup?.milliseconds ?? -1
    let tls = metrics.tls?.milliseconds ?? 0
    if let connection = metrics.connect?.milliseconds, connection + tls > 0 {
      connect = connection + tls
      ssl = tls > 0 ? tls : -1
    }
    let total = metrics.total.milliseconds
    // Without a response, the transport may report a first byte although none has arrived.
    let first = hasResponse ? metrics.firstByte?.milliseconds ?? total : total
    let before = max(0, blocked) + max(0, dns) + max(0, connect)
    // A server may respond before the whole body has been sent.
    send = min(metrics.send?.milliseconds ?? 0, max(0, first - before))
    wait = max(0, first - before - send)
    receive = max(0, total - first)
  }
}

extension HAREntry.Failure {
  init(_ error: NetworkError, redaction: Redaction) {
    self.init(kind: error.kind.rawValue, code: error.code, reason: redaction.redacted(error.reason))
  }
}

extension HAREntry.SentBody {
  package init(_ request: Request, redaction: Redaction) {
    let bytes: Data
    switch request.body {
    case .none:
      self = .none
      return
    case .data(let data): bytes = data
    case .parts(let parts):
      var joined = Data()
      for part in parts {
        guard case .data(let data) = part else {
          self = .unknown
          return
        }
        joined += data
      }
      bytes = joined
    case .file, .stream:
      self = .unknown
      return
    }
    let type = redaction.redacted(request.headers["Content-Type"] ?? "")
    if bytes.isEmpty {
      self = .none
    } else if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) {
      self = .text(redaction.redacted(text), type: type)
    } else {
      let hidden = redaction.body(bytes)
      self = .digest(Hash.sha256(hidden).hex, count: bytes.count, type: type)
    }
  }

  /// The text that equal bodies share: without secrets, and with a fixed boundary between the parts of a form; `nil` for an
  /// unknown body.
  package func key(_ redaction: Redaction) -> String? {
    switch self {
    case .none: return ""
    case .unknown: return nil
    case .digest(let digest, _, _): return "sha256:" + digest
    case .text(let text, let type):
      let boundary = MediaType(type).parameter("boundary").unlessEmpty
      return redaction.redacted(boundary.map { text.replacing($0, with: "boundary") } ?? text)
    }
  }
}

extension Duration {
  package var milliseconds: Double { inSeconds * 1_000 }
}

extension URL {
  /// The URL without its fragment, which is not sent.
  var withoutFragment: URL {
    let text = absoluteString
    guard let mark = text.firstIndex(of: "#") else { return self }
    return URL(text: String(text[..<mark])) ?? self
  }
}
