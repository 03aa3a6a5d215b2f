import PortableFoundation

/// The two sides of a connection, as an error names them.
struct ConnectionSides {
  /// The host and port of the server.
  let server: String
  /// The host and port of the proxy, and the setting that names it, such as `the variable http_proxy`.
  var proxy: (place: String, setting: String)?
  /// Whether the proxy is the side that failed.
  var isProxys = false
  var hasIdentity = false
  /// Whether the server may have ended the connection because it misses a client certificate.
  var mayMissCertificate = false
  var minVersion = TLSOptions.Version.v1_2

  /// The side that failed.
  var peer: String { failedProxy.map { "the proxy \($0.place) for \(server)" } ?? server }
  var failedProxy: (place: String, setting: String)? { isProxys ? proxy : nil }
}

/// A failure of a connection. The only place of texts about the side that failed, and of their remedies, for both
/// transports.
enum ConnectionProblem: CaseIterable {
  case unknownHost, refused, quicRefused, lost, closed, notHTTP, gone
  case notTLS, closedInHandshake, handshake, oldTLS, alert, refusedHandshake
  case expiredCertificate, earlyCertificate, otherName, untrustedCertificate, invalidCertificate, otherKey
  case identityRequired, identityRefused, unusableIdentity, unreadableTrust
  case proxyCredentials, tunnelForbidden, tunnelFailed, tunnelTooLarge, proxyRejected

  var kind: NetworkError.Kind {
    switch self {
    case .unknownHost: .unknownHost
    case .gone: .timeout
    case .notHTTP, .tunnelTooLarge: .parse
    case .refused, .quicRefused, .lost, .closed, .closedInHandshake, .proxyCredentials, .tunnelForbidden,
      .tunnelFailed, .proxyRejected:
      .connection
    case .notTLS, .handshake, .oldTLS, .alert, .refusedHandshake, .expiredCertificate, .earlyCertificate, .otherName,
      .untrustedCertificate, .invalidCertificate, .otherKey, .identityRequired, .identityRefused, .unusableIdentity,
      .unreadableTrust:
      .tls
    }
  }

  /// Returns what failed, why, and what can be done. `cause` is the text of the transport's library.
  func reason(_ sides: ConnectionSides, _ cause: String? = nil) -> String {
    "\(event(sides))\(cause.map { ": \($0)" } ?? ""); \(remedy(sides))"
  }

  private func event(_ sides: ConnectionSides) -> String {
    let (peer, server) = (sides.peer, sides.server)
    switch self {
    case .unknownHost:
      let host = server.lastIndex(of: ":").map { String(server[..<$0]) } ?? server
      return "the host \(sides.failedProxy.map { "of the proxy \($0.place)" } ?? host) can't be resolved"
    case .refused: return "could not connect to \(peer)"
    case .quicRefused: return "could not connect with HTTP/3 to \(server)"
    case .lost: return "the connection to \(peer) was lost before the response was complete"
    case .closed: return "\(peer) closed the connection without a response"
    case .gone: return "\(peer) no longer responds on the open connection"
    case .notHTTP: return "\(peer) did not respond with HTTP"
    case .notTLS: return "\(peer) did not respond with TLS"
    case .closedInHandshake:
      // A proxy may also close an established tunnel.
      let other = sides.isProxys ? "" : sides.proxy.map { "the proxy \($0.place) or " } ?? ""
      return "\(other)\(peer) closed the connection during the TLS handshake"
    case .handshake: return "the TLS handshake with \(peer) failed"
    case .oldTLS:
      return "\(peer) supports no TLS version from \(sides.minVersion == .v1_3 ? "1.3" : "1.2") on"
    case .alert: return "\(peer) ended the TLS handshake"
    case .refusedHandshake: return "\(peer) refused the TLS handshake"
    case .expiredCertificate: return "the certificate of \(peer) has expired"
    case .earlyCertificate: return "the certificate of \(peer) is not valid yet"
    case .otherName: return "the certificate of \(peer) is for another name"
    case .untrustedCertificate: return "the certificate of \(peer) is not trusted"
    case .invalidCertificate: return "the certificate of \(peer) is not accepted"
    case .otherKey: return "the public key of \(peer) matches no pin"
    case .identityRequired: return "\(peer) requires a client certificate"
    case .identityRefused: return "\(peer) does not accept the client certificate"
    case .unusableIdentity: return "the client certificate or key can't be used for \(server)"
    case .unreadableTrust: return "the certificates of the CAs can't be read for \(server)"
    case .proxyCredentials: return "\(peer) requires another user and password"
    case .tunnelForbidden, .proxyRejected: return "\(peer) rejected the connection"
    case .tunnelFailed: return "\(peer) could not connect"
    case .tunnelTooLarge: return "the response of \(peer) to CONNECT is too large"
    }
  }

  private func remedy(_ sides: ConnectionSides) -> String {
    let proxy = sides.failedProxy
    switch self {
    case .unknownHost: return "check \(proxy.map { "\($0.setting)" } ?? "its spelling") and the network"
    case .refused:
      return proxy.map { "check \($0.setting), and that a proxy is listening there" }
        ?? "check that a server is listening there"
    case .quicRefused: return "check that the server supports HTTP/3 on that UDP port, or use HTTPVersion.automatic"
    case .lost, .closed:
      let other = "set TLSOptions.identity if the server requires a client certificate"
      return "try again\(proxy.map { ", or check \($0.setting)" } ?? (sides.mayMissCertificate ? ", or \(other)" : ""))"
    case .gone: return "try again, or check the network"
    case .notHTTP: return "check \(proxy.map { "the scheme and the port of \($0.setting)" } ?? "the port")"
    case .notTLS:
      return proxy.map { "use the scheme http, or another port, in \($0.setting)" }
        ?? "use another port, or an http URL"
    case .closedInHandshake: return "check that the port uses TLS, and what the server requires"
    case .handshake, .alert: return "check the host, and the TLS settings of the \(proxy == nil ? "server" : "proxy")"
    case .oldTLS:
      return "update its TLS\(sides.minVersion == .v1_3 ? ", or lower TLSOptions.minVersion" : "")"
    case .refusedHandshake:
      return sides.hasIdentity
        ? "it may not accept the certificate of TLSOptions.identity, or support none of the ciphers"
        : "it may require a client certificate (TLSOptions.identity), or support none of the ciphers"
    case .expiredCertificate: return "renew it, or check the clock of this device"
    case .earlyCertificate: return "check the clock of this device, or the dates of the certificate"
    case .otherName: return "check the host of \(proxy?.setting ?? "the URL"), or the names in the certificate"
    case .untrustedCertificate: return "let it send its whole chain, or trust its CA with TLSOptions.trust"
    case .invalidCertificate: return "check the certificate of the \(proxy == nil ? "server" : "proxy") and its chain"
    case .otherKey:
      return "update TLSOptions.pins if it has a new key; otherwise the connection may be intercepted"
    case .identityRequired: return "set one in TLSOptions.identity"
    case .identityRefused: return "replace the one in TLSOptions.identity"
    case .unusableIdentity: return "check the files and the password of TLSOptions.identity"
    case .unreadableTrust: return "check TLSOptions.trust, or install the system's CAs (Debian: ca-certificates)"
    case .proxyCredentials:
      return "correct them in \(sides.proxy?.setting ?? "the proxy's URL"); only Basic authentication is supported"
    case .tunnelForbidden: return "check whether the proxy allows this host and port"
    case .tunnelFailed: return "try again, or check the server and the proxy"
    case .tunnelTooLarge: return "check \(sides.proxy?.setting ?? "the proxy")"
    case .proxyRejected: return "check \(sides.proxy?.setting ?? "the proxy"), and whether the proxy allows this host"
    }
  }

  /// Returns the problem of a certificate by the text of OpenSSL or GnuTLS.
  static func ofCertificate(_ text: String) -> ConnectionProblem {
    let text = text.lowercased()
    func says(_ parts: String...) -> Bool { parts.contains(where: text.contains) }
    if says("expired", "expiration date has passed") { return .expiredCertificate }
    if says("not yet valid", "not activated yet") { return .earlyCertificate }
    if says("subject name", "common name", "does not match", "mismatch") { return .otherName }
    return says("issuer", "self-signed", "self signed", "trusted", "unable to verify", "verification failed")
      ? .untrustedCertificate : .invalidCertificate
  }
}

/// An alert of the TLS handshake (RFC 8446 §6; IANA, TLS Alerts).
struct TLSAlert: Equatable {
  /// The number; `nil` if the library does not report it.
  let number: UInt8?

  init(number: UInt8?) { self.number = number }

  /// Reads the alert from a text of OpenSSL, whose error codes contain the number plus 1,000, or of GnuTLS, which does not
  /// report the number; `nil` for other texts.
  init?(_ text: String) {
    // libcurl's own text for the alert of an expired certificate, if the server's certificate is valid.
    if text == "SSL certificate verification failed" {
      number = 45
    } else if let code = text.firstMatch(of: /error:([0-9A-Fa-f]{8})/).flatMap({ UInt32($0.output.1, radix: 16) }),
      case let reason = code & 0xFFF, let number = UInt8(exactly: Int(reason) - 1000)
    {
      self.number = number
    } else if text.lowercased().contains("fatal alert") {
      number = nil
    } else {
      return nil
    }
  }

  /// Returns the problem of an alert before a response; `nil` for alerts that only end the connection, such as
  /// `close_notify` and `internal_error`.
  ///
  /// The alerts about certificates concern the client's. Without one, only those mean a missing certificate that servers send
  /// for it.
  func problem(hasIdentity: Bool) -> ConnectionProblem? {
    switch number {
    case 0, 80, 90: nil
    case 40, 71: .refusedHandshake
    case 70: .oldTLS
    case 116: hasIdentity ? .identityRefused : .identityRequired
    case 41, 42, 46, nil: hasIdentity ? .identityRefused : .identityRequired
    case 43, 44, 45, 48, 49, 51, 111, 113, 114: hasIdentity ? .identityRefused : .alert
    default: .alert
    }
  }
}
