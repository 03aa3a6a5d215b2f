import PortableFoundation

/// The checks before a transport opens a connection. They reject requests that are not valid HTTP or allow injection.
package enum RequestCheck {
  /// Returns the error for a `request` that must not be sent, with the location and the offending value (RFC 9110 §5,
  /// §9.1); `nil` if it is valid.
  package static func failure(of request: Request, url: String) -> NetworkError? {
    reason(request, url: url).map { NetworkError(kind: .invalidRequest, reason: $0, request: request) }
  }

  private static func reason(_ request: Request, url: String) -> String? {
    if !isToken(request.method.rawValue) {
      return "the method \(quoted(request.method.rawValue)) is not a valid HTTP token; use letters such as GET or PURGE"
    }
    if request.method.rawValue == "CONNECT" {
      return
        "the method CONNECT opens a tunnel through a proxy, which the transport does itself; use another method, and set "
        + "CurlTransport.Configuration.proxy"
    }
    for field in request.headers {
      if !isToken(field.name) {
        return "the header name \(quoted(field.name)) is not a valid HTTP token; use letters, digits and hyphens"
      }
      if let offset = offsetOfForbiddenByte(in: field.value) {
        let byte = Array(field.value.utf8)[offset]
        let value = Redaction.standard.hides(field.name) ? Redaction.standard.placeholder : quoted(field.value)
        return "the value \(value) of header \(field.name) contains \(name(of: byte)) at byte \(offset), which is not "
          + "allowed in values; remove it"
      }
    }
    return framingProblem(request) ?? timeoutProblem(request.timeouts) ?? urlProblem(url)
      ?? proxyProblem(request, url: url)
  }

  /// A limit of zero, which other libraries use for no limit, would end every request.
  private static func timeoutProblem(_ limits: Request.Timeouts) -> String? {
    // Almost all requests pass here, without an allocation.
    if isPositive(limits.connect), isPositive(limits.idle), isPositive(limits.attempt), isPositive(limits.call) {
      return nil
    }
    let all = [("connect", limits.connect), ("idle", limits.idle), ("attempt", limits.attempt), ("call", limits.call)]
    return all.first { !isPositive($0.1) }.map { name, limit in
      "Timeouts.\(name) is \(limit.text); set a positive duration, or nil for no limit"
    }
  }

  private static func isPositive(_ limit: Duration?) -> Bool { limit.map { $0 > .zero } ?? true }

  /// The proxy can't read the fields of a request inside TLS. The server would receive the proxy's password instead.
  private static func proxyProblem(_ request: Request, url: String) -> String? {
    guard request.headers.contains(where: { HTTPHeaders.same($0.name, "Proxy-Authorization") }),
      url.utf8.dropping("https://") != nil
    else { return nil }
    return
      "the header Proxy-Authorization would be sent to the server of the https URL, not to the proxy; remove it, and put user "
      + "and password into the URL of CurlTransport.Configuration.proxy"
  }

  /// A framing field that contradicts the body could turn one request into two (RFC 9112 §11.2).
  private static func framingProblem(_ request: Request) -> String? {
    if request.method == .head || request.method == .trace, !request.body.isEmpty {
      return "\(request.method) must not have a body (RFC 9110 §9.3); use another method or Body.none"
    }
    for field in request.headers {
      if HTTPHeaders.same(field.name, "Transfer-Encoding") {
        return "the header Transfer-Encoding: \(quoted(field.value)) is set by the transport; remove it"
      }
    }
    if case .stream(let stream) = request.body, let problem = problem(of: stream, request) { return problem }
    return request.body.byteCount.flatMap { lengthProblem(request, length: $0) }
  }

  private static func problem(of stream: Request.BodyStream, _ request: Request) -> String? {
    if !isPositive(stream.chunkTimeout) {
      return "BodyStream.chunkTimeout is \(stream.chunkTimeout.text); set a positive duration, or nil for no limit"
    }
    if let count = stream.count, count < 0 {
      return "BodyStream.count is \(count); set the length in bytes, or nil if it is unknown"
    }
    if stream.count == nil, request.headers["Content-Length"] != nil {
      return "the header Content-Length is set for a body of unknown length; set BodyStream.count instead"
    }
    return nil
  }

  /// Returns the error for a `Content-Length` field that contradicts `length`, for bodies whose length is known once
  /// they are open.
  static func lengthFailure(of request: Request, length: Int64) -> NetworkError? {
    lengthProblem(request, length: length).map {
      NetworkError(kind: .invalidRequest, reason: $0, request: request)
    }
  }

  private static func lengthProblem(_ request: Request, length: Int64) -> String? {
    for field in request.headers
    where HTTPHeaders.same(field.name, "Content-Length") && !isLength(field.value, length) {
      return "the header Content-Length: \(quoted(field.value)) contradicts the body of \(length) bytes; remove it, "
        + "because the transport sets it"
    }
    return nil
  }

  /// Returns whether `value` is `length`, written only with digits. Servers interpret other spellings differently.
  private static func isLength(_ value: String, _ length: Int64) -> Bool { Int64(digits: value) == length }

  private static func urlProblem(_ url: String) -> String? {
    if url.utf8.withContiguousStorageIfAvailable(isPlain) == true { return nil }
    let rest: Substring.UTF8View
    if let http = url.utf8.dropping("http://") {
      rest = http
    } else if let https = url.utf8.dropping("https://") {
      rest = https
    } else {
      return "the URL \(quoted(url)) has no http or https scheme and host; pass an absolute URL"
    }
    if let byte = rest.first(where: { $0 <= 0x20 || $0 == 0x7f }) {
      return "the URL \(quoted(url)) contains \(name(of: byte)); percent-encode it"
    }
    return URLAuthority.problem(of: url)
  }

  /// Returns whether a URL has a simple host name of letters, digits, hyphens and dots, as nearly all have, so that it
  /// needs no further checks. This runs for every request on the caller's thread.
  private static func isPlain(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
    guard url.count > 8, url[0] == 0x68, url[1] == 0x74, url[2] == 0x74, url[3] == 0x70 else { return false }
    var index = url[4] == 0x73 ? 5 : 4
    guard url[index] == 0x3a, url[index + 1] == 0x2f, url[index + 2] == 0x2f else { return false }
    index += 3
    let start = index
    var (label, port) = (0, -1)
    authority: while index < url.count {
      let byte = url[index]
      switch byte {
      case 0x2f, 0x3f, 0x23: break authority
      case 0x30...0x39 where port >= 0:
        port = port * 10 + Int(byte - 0x30)
        guard port <= 65535 else { return false }
      case _ where port >= 0: return false
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d: label += 1
      case 0x2e where label > 0: label = 0
      case 0x3a where label > 0: port = 0
      default: return false
      }
      guard label <= 63, index - start < 254 else { return false }
      index += 1
    }
    guard label > 0, port != 0 else { return false }
    while index < url.count {
      guard url[index] > 0x20, url[index] != 0x7f else { return false }
      index += 1
    }
    return true
  }

  /// Returns whether `text` is a `token` (RFC 9110 §5.6.2).
  package static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x5e...0x7a, 0x7c, 0x7e, 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e: true
        default: false
        }
      }
  }

  /// Returns whether a value that a server has sent, such as an entity tag, can be a field of later requests. A longer value
  /// would make servers reject them.
  package static func isSendable(_ value: String) -> Bool {
    value.utf8.count <= 1024 && !value.utf8.contains(where: isForbiddenInValue)
  }

  /// Returns whether a byte is a control character other than a tab. CR and LF would start another field (RFC 9110
  /// §5.5). Characters outside ASCII are sent as UTF-8.
  package static func isForbiddenInValue(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7f }

  private static func offsetOfForbiddenByte(in value: String) -> Int? {
    // Without the storage, each byte of the view takes a function call.
    value.utf8.withContiguousStorageIfAvailable { $0.firstIndex(where: isForbiddenInValue) }
      ?? Array(value.utf8).firstIndex(where: isForbiddenInValue)
  }

  private static func name(of byte: UInt8) -> String {
    switch byte {
    case 0x0d: "CR"
    case 0x0a: "LF"
    case 0: "NUL"
    default: "the byte 0x" + String(byte, radix: 16)
    }
  }

  /// Returns the text as a Swift literal, so that CR and LF do not break the log line. A long text is truncated.
  private static func quoted(_ text: String) -> String {
    text.count > 200 ? String(text.prefix(200)).debugDescription + "…" : text.debugDescription
  }
}

extension Substring.UTF8View {
  fileprivate func dropping(_ prefix: String) -> Substring.UTF8View? {
    var index = startIndex
    for byte in prefix.utf8 {
      guard index < endIndex, self[index] | 0x20 == byte | 0x20 else { return nil }
      index = self.index(after: index)
    }
    return self[index...]
  }
}

extension String.UTF8View {
  fileprivate func dropping(_ prefix: String) -> Substring.UTF8View? { self[...].dropping(prefix) }
}
