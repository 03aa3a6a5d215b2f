import PortableFoundation

extension CallEvent {
  /// Returns the event's attributes, named by OpenTelemetry's semantic conventions for HTTP client spans, as far as
  /// they are known.
  ///
  /// - `http.request.method`, or `_OTHER` and `http.request.method_original` for a method that the conventions do not
  ///   list
  /// - `url.full`, `server.address`, `server.port`
  /// - `http.request.resend_count`, from the second request of the call on, for any reason: a retry, a refreshed token, a
  ///   challenge, a redirect
  /// - `http.response.status_code`
  /// - `error.type`: the status if it is at least 400, or the ``/HTTPTransport/NetworkError/Kind``
  /// - `network.protocol.version`, `network.peer.address`, `network.peer.port`
  ///
  /// Ports, counts and statuses are numbers; all other values are text.
  ///
  /// - Parameter redaction: The secrets to hide in the URL, in addition to those of the backend.
  public func attributes(redaction: Redaction = .inherited) -> [String: JSON] {
    var attributes: [String: JSON] = [
      "url.full": JSON(stringLiteral: request.redaction(adding: redaction).redacted(request.url))
    ]
    let method = request.method.rawValue
    let isListed = Self.listedMethods.contains(method)
    attributes["http.request.method"] = JSON(stringLiteral: isListed ? method : "_OTHER")
    if !isListed { attributes["http.request.method_original"] = JSON(stringLiteral: method) }
    if let host = request.url.host { attributes["server.address"] = JSON(stringLiteral: host) }
    let port = request.url.port ?? (request.url.scheme == "https" ? 443 : 80)
    attributes["server.port"] = JSON(integerLiteral: port)
    if resendCount > 0 { attributes["http.request.resend_count"] = JSON(integerLiteral: resendCount) }
    if let response {
      attributes["http.response.status_code"] = JSON(integerLiteral: response.status)
      if response.status >= 400 { attributes["error.type"] = JSON(stringLiteral: "\(response.status)") }
    }
    if let error { attributes["error.type"] = JSON(stringLiteral: error.kind.rawValue) }
    note(metrics, in: &attributes)
    return attributes
  }

  /// The methods that the conventions list (RFC 9110 and RFC 5789).
  private static let listedMethods: Set<String> = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
  ]

  private func note(_ metrics: TransferMetrics?, in attributes: inout [String: JSON]) {
    if let version = metrics?.httpVersion { attributes["network.protocol.version"] = JSON(stringLiteral: version) }
    // The format is 127.0.0.1:80 or [::1]:80.
    guard let place = metrics?.remoteAddress, let colon = place.lastIndex(of: ":") else { return }
    let address = place[..<colon].trimming { $0 == "[" || $0 == "]" }
    attributes["network.peer.address"] = JSON(stringLiteral: address)
    if let port = Int(place[place.index(after: colon)...]) {
      attributes["network.peer.port"] = JSON(integerLiteral: port)
    }
  }
}
