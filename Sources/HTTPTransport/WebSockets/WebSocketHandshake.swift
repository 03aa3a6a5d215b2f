import PortableFoundation

/// The opening handshake of a WebSocket over HTTP/1.1 (RFC 6455 §4.1).
struct WebSocketHandshake {
  private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  /// The header fields that the handshake sets.
  private static let ownFields = [
    "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
    "Sec-WebSocket-Protocol", "Content-Length", "Transfer-Encoding",
  ]

  let key: String
  private let options: WebSocketOptions
  private let offersCompression: Bool

  init(_ options: WebSocketOptions, offersCompression: Bool) {
    var random = SystemRandomNumberGenerator()
    key = Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }).base64EncodedString()
    (self.options, self.offersCompression) = (options, offersCompression)
  }

  /// Returns the error for a `request` that can't open a WebSocket; `nil` if it can.
  static func problem(of request: Request, _ options: WebSocketOptions) -> NetworkError? {
    if let failure = RequestCheck.failure(of: request, url: request.url.absoluteString) { return failure }
    var reason = options.problem
    if request.method != .get || !request.body.isEmpty {
      reason = "a WebSocket requires a GET request without a body (RFC 6455 §4.1); change the \(request.method) request"
    } else if let name = ownFields.first(where: { request.headers[$0] != nil }) {
      reason = "the header \(name) is set by the handshake; remove it, and pass subprotocols in WebSocketOptions"
    }
    return reason.map { NetworkError(kind: .invalidRequest, reason: $0, request: request) }
  }

  /// The value of `Sec-WebSocket-Accept` that the server must send (§4.2.2).
  var accept: String { Data(SHA1.hash(Array((key + Self.guid).utf8))).base64EncodedString() }

  func head(of request: Request, cookies: String?, userAgent: String? = nil) -> [UInt8] {
    var head = "GET \(Self.target(of: request.url)) HTTP/1.1\r\n"
    func add(_ name: String, _ value: String) { head += "\(name): \(value)\r\n" }
    if request.headers["Host"] == nil { add("Host", Self.host(of: request.url)) }
    for field in request.headers { add(field.name, field.value) }
    if request.headers["Authorization"] == nil, let user = request.url.user(percentEncoded: false) {
      let password = request.url.password(percentEncoded: false) ?? ""
      for field in HTTPHeaders.basic(user: user, password: password) { add(field.name, field.value) }
    }
    if let userAgent, request.headers["User-Agent"] == nil { add("User-Agent", userAgent) }
    if let cookies { add("Cookie", cookies) }
    add("Connection", "Upgrade")
    add("Upgrade", "websocket")
    add("Sec-WebSocket-Version", "13")
    add("Sec-WebSocket-Key", key)
    if !options.subprotocols.isEmpty {
      add("Sec-WebSocket-Protocol", options.subprotocols.joined(separator: ", "))
    }
    if offersCompression { add("Sec-WebSocket-Extensions", "permessage-deflate") }
    return Array((head + "\r\n").utf8)
  }

  struct Agreement: Equatable {
    var compresses = false
    /// Whether the client compresses each message independently of earlier messages (RFC 7692 §7.1.1.2).
    var resetsCompression = false
  }

  /// Checks a response with status 101.
  ///
  /// - Throws: A violation if the response does not accept a WebSocket, or selects something that the client did not
  ///   offer.
  func check(_ headers: HTTPHeaders) throws(WebSocketFrame.Violation) -> Agreement {
    guard headers.values(of: "Upgrade").contains(where: { $0.lowercased() == "websocket" }) else {
      throw .breaksProtocol("the 101 response has no header Upgrade: websocket")
    }
    guard Self.items(headers.values(of: "Connection"), ",").contains(where: { $0.lowercased() == "upgrade" }) else {
      throw .breaksProtocol("the 101 response has no header Connection: Upgrade")
    }
    guard headers.values(of: "Sec-WebSocket-Accept") == [accept] else {
      throw .breaksProtocol(
        "the response's Sec-WebSocket-Accept does not match the key; check for a cache or proxy in between")
    }
    let chosen = headers.values(of: "Sec-WebSocket-Protocol")
    guard chosen.isEmpty || (chosen.count == 1 && options.subprotocols.contains(chosen[0])) else {
      throw .breaksProtocol(
        "the server selected the subprotocol \(chosen.joined(separator: ", ")), which was not offered")
    }
    return try agreement(Self.items(headers.values(of: "Sec-WebSocket-Extensions"), ","))
  }

  private func agreement(_ extensions: [String]) throws(WebSocketFrame.Violation) -> Agreement {
    guard let first = extensions.first else { return Agreement() }
    let parts = Self.items([first], ";")
    guard offersCompression, extensions.count == 1, parts.first?.lowercased() == "permessage-deflate" else {
      throw WebSocketFrame.Violation(
        code: .missingExtension, reason: "the server selected the extension \(first), which was not offered")
    }
    var agreement = Agreement(compresses: true)
    for part in parts.dropFirst() {
      let pair = Self.items([part], "=")
      switch pair.first?.lowercased() {
      case "client_no_context_takeover" where pair.count == 1: agreement.resetsCompression = true
      // The client's window has the maximum size, so it can also decode data with a smaller window.
      case "server_no_context_takeover" where pair.count == 1: continue
      case "server_max_window_bits" where pair.count == 2 && (8...15).contains(Self.number(pair[1])): continue
      default:
        throw WebSocketFrame.Violation(
          code: .missingExtension, reason: "the server selected the parameter \(part), which was not offered")
      }
    }
    return agreement
  }

  private static func items(_ values: [String], _ separator: Character) -> [String] {
    values.flatMap { $0.split(separator: separator) }.map { $0.trimmingBlanks }.filter { !$0.isEmpty }
  }

  /// Returns the number in a parameter's value, which may be quoted; 0 if it is not a number.
  private static func number(_ value: String) -> Int { Int(digits: value.trimming { $0 == "\"" }) ?? 0 }

  /// Returns the path and query in their original spelling.
  private static func target(of url: URL) -> String {
    let text = url.absoluteString.prefix { $0 != "#" }
    guard let authority = text.firstRange(of: "://") else { return "/" }
    let rest = text[authority.upperBound...].drop { $0 != "/" && $0 != "?" }
    return rest.hasPrefix("/") ? String(rest) : "/" + rest
  }

  /// Returns the host without an address's zone, which concerns only this machine (RFC 6874 §1), and with the port
  /// unless it is the default port of the scheme.
  private static func host(of url: URL) -> String {
    let host = (url.host ?? "").prefix { $0 != "%" }
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : String(host)
    let own = url.scheme?.lowercased() == "https" ? 443 : 80
    return url.port.map { $0 == own ? name : "\(name):\($0)" } ?? name
  }
}
