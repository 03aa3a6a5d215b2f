#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The information that errors contain about a request: of a transfer, or of a socket that is opening.
  protocol CurlOperation {
    var request: Request { get }
    /// The request on the wire, and its URL as text.
    var currentRequest: Request { get }
    var currentURL: String { get }
    var hostAndPort: String { get }
    /// Whether an HTTP proxy must open a tunnel to the server.
    var needsTunnel: Bool { get }
  }

  extension CurlOperation {
    var isSecure: Bool { currentURL.utf8.dropFirst(4).first.map { $0 | 0x20 == 0x73 } ?? false }
  }

  extension CurlTransfer: CurlOperation {
    var needsTunnel: Bool { isSecure }
  }

  /// The translation of libcurl's error codes to `NetworkError`s (libcurl-errors(3)).
  enum CurlFailure {
    /// Returns the error of a request that libcurl has ended with `code`. This package's own reason to end it comes first,
    /// then the first rule that applies, then the table.
    static func error(_ code: CURLcode, handle: CurlHandle, transfer: some CurlOperation) -> NetworkError {
      let facts = CurlFacts(code: code, text: handle.errorMessage(code), handle: handle, transfer: transfer)
      if var failure = handle.attempt.bodyFailure, !handle.response.isTooLarge {
        failure.request = transfer.request
        return failure
      }
      let (kind, reason) =
        ownReason(facts) ?? rules.lazy.compactMap { $0(facts) }.first
        ?? table[code].map { ($0.kind, $0.phrase(facts)) }
        ?? (.connection, "the request failed: \(facts.hostAndText) (libcurl error \(code.rawValue))")
      return NetworkError(
        kind: kind, reason: reason, request: transfer.request,
        underlying: CurlError(code: Int(code.rawValue), text: facts.text))
    }

    private static func ownReason(_ facts: CurlFacts) -> Verdict? {
      if facts.response.isTooLarge {
        return (
          .tooLarge,
          "the body from \(facts.host) is larger than \(facts.response.maxBodySize) bytes; raise "
            + "Request.Options.maxBodySize, or CurlTransport.Configuration.maxBodySize for all requests"
        )
      }
      let attempt = facts.handle.attempt
      if let problem = attempt.problem { return verdict(problem, facts.sides(), nil) }
      return attempt.lossReason.map { (.connection, "\(facts.host): \($0)") }
        ?? attempt.abortReason.map { (.parse, "\(facts.host): \($0)") }
    }

    typealias Verdict = (kind: NetworkError.Kind, reason: String)

    // MARK: The codes with one meaning

    private typealias Row = (kind: NetworkError.Kind, phrase: @Sendable (CurlFacts) -> String)

    private static let table: [CURLcode: Row] = {
      var table: [CURLcode: Row] = [
        CURLE_UNSUPPORTED_PROTOCOL: (.invalidRequest, rejectedURL),
        CURLE_URL_MALFORMAT: (.invalidRequest, rejectedURL),
        CURLE_COULDNT_CONNECT: (.connection, refused),
        CURLE_HTTP2: (.connection, http2Error),
        CURLE_HTTP2_STREAM: (.connection, http2Error),
        CURLE_OUT_OF_MEMORY: (
          .connection,
          {
            "libcurl has too little memory for the request to \($0.host), or the request header is too large; move "
              + "large values into the body"
          }
        ),
        CURLE_OPERATION_TIMEDOUT: (.timeout, { connectTimeoutReason($0.transfer, $0.handle) }),
        CURLE_BAD_CONTENT_ENCODING: (
          .parse, { "the body from \($0.host) does not match its Content-Encoding; check the server" }
        ),
        CURLE_SEND_FAIL_REWIND: (
          .connection,
          { "\($0.host) requested the body again, which can be sent only once; use a repeatable BodyStream" }
        ),
      ]
      for (code, problem) in problems {
        table[code] = (problem.kind, { problem.reason($0.sides(), $0.text) })
      }
      return table
    }()

    /// The codes that mean one failure of a connection.
    private static let problems: [(CURLcode, ConnectionProblem)] =
      [
        (CURLE_WEIRD_SERVER_REPLY, .notHTTP), (CURLE_SSL_CERTPROBLEM, .unusableIdentity),
        (CURLE_SSL_CACERT_BADFILE, .unreadableTrust), (CURLE_QUIC_CONNECT_ERROR, .quicRefused),
        (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .otherKey),
      ]
      + [
        CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CIPHER,
        CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
        CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
      ].map { ($0, .handshake) }

    @Sendable private static func rejectedURL(_ facts: CurlFacts) -> String {
      "libcurl rejected the URL \(facts.transfer.currentURL): \(facts.text)"
    }

    @Sendable private static func refused(_ facts: CurlFacts) -> String {
      if let limit = facts.systemLimit { return "could not connect to \(facts.hostAndText): \(limit)" }
      if let address = facts.handle.attempt.address {
        return
          "could not connect to \(facts.host) at \(address.text): \(facts.text); check Configuration.addresses, and "
          + "that a server is listening there"
      }
      return ConnectionProblem.refused.reason(facts.sides(isProxys: facts.proxy != nil), facts.text)
    }

    @Sendable private static func http2Error(_ facts: CurlFacts) -> String {
      "HTTP/2 error with \(facts.hostAndText) (libcurl error \(facts.code.rawValue)); try again"
    }

    // MARK: The codes with several meanings

    /// The rules for codes whose meaning depends on other facts. The first one that applies wins: for a lost connection,
    /// a cause in the tunnel comes before one in the handshake, and that before one in the response.
    private static let rules: [@Sendable (CurlFacts) -> Verdict?] = [
      unresolved, refusedTunnel, alerted, failedHandshake, closedInHandshake, peerIsGone, invalidChunks, truncated,
      invalidHead, tooLargeHead, unusableKey, closed, protocolOfResponse,
    ]

    private static func verdict(_ problem: ConnectionProblem, _ sides: ConnectionSides, _ cause: String?) -> Verdict {
      (problem.kind, problem.reason(sides, cause))
    }

    /// libcurl reports the host of a SOCKS proxy, and a host that it resolves for such a proxy, with the codes of others.
    @Sendable private static func unresolved(_ facts: CurlFacts) -> Verdict? {
      switch facts.code {
      case CURLE_COULDNT_RESOLVE_PROXY: return verdict(.unknownHost, facts.sides(isProxys: true), nil)
      case CURLE_COULDNT_RESOLVE_HOST:
        let name = facts.proxy.map { $0.place.prefix(upTo: $0.place.lastIndex(of: ":") ?? $0.place.endIndex) }
        let host = facts.transfer.currentRequest.url.host ?? ""
        let isProxys = name.map { facts.text.hasSuffix($0) && $0 != host } ?? false
        return verdict(.unknownHost, facts.sides(isProxys: isProxys), nil)
      case CURLE_PROXY where facts.text.lowercased().contains("resolve"):
        return verdict(.unknownHost, facts.sides(isProxys: false), nil)
      case CURLE_PROXY: return verdict(.proxyRejected, facts.sides(isProxys: true), facts.text)
      default: return nil
      }
    }

    /// The code is `CURLE_COULDNT_CONNECT` since libcurl 8.15.
    @Sendable private static func refusedTunnel(_ facts: CurlFacts) -> Verdict? {
      guard [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR].contains(facts.code), facts.proxy != nil else { return nil }
      let sides = facts.sides(isProxys: true)
      if facts.text.contains("CONNECT response too large") { return verdict(.tunnelTooLarge, sides, nil) }
      // libcurl does not check the first line of the response.
      if facts.text.hasSuffix("response 0") { return verdict(.notHTTP, sides, nil) }
      let status = facts.tunnelStatus
      guard status >= 200, !facts.hasTunnel else { return nil }
      let problem: ConnectionProblem =
        status == 401 || status == 407 ? .proxyCredentials : status >= 500 ? .tunnelFailed : .tunnelForbidden
      return verdict(problem, sides, "it responded to CONNECT with \(status)")
    }

    /// In TLS 1.3, alerts about the client's certificate arrive only after the handshake.
    @Sendable private static func alerted(_ facts: CurlFacts) -> Verdict? {
      let sides = facts.sides()
      let problem = facts.alert?.problem(hasIdentity: sides.hasIdentity && !sides.isProxys)
      return problem.map { verdict($0, sides, facts.text) }
    }

    @Sendable private static func failedHandshake(_ facts: CurlFacts) -> Verdict? {
      let text = facts.text.lowercased()
      switch facts.code {
      case CURLE_SSL_CONNECT_ERROR where facts.isPlainText: return verdict(.notTLS, facts.sides(), facts.text)
      case CURLE_SSL_CONNECT_ERROR where ["unsupported protocol", "wrong ssl version"].contains(where: text.contains):
        return verdict(.oldTLS, facts.sides(), facts.text)
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_OBSOLETE51:
        return verdict(.ofCertificate(text), facts.sides(), facts.text)
      default: return nil
      }
    }

    /// Not a verdict about a certificate: a server or balancer that restarts closes connections like this. GnuTLS reports
    /// a reset that it reads as `CURLE_RECV_ERROR`.
    @Sendable private static func closedInHandshake(_ facts: CurlFacts) -> Verdict? {
      guard
        facts.code == CURLE_SSL_CONNECT_ERROR && facts.isHangUp || facts.code == CURLE_RECV_ERROR && facts.isInHandshake
      else { return nil }
      return verdict(.closedInHandshake, facts.sides(), facts.text)
    }

    @Sendable private static func peerIsGone(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_RECV_ERROR || facts.code == CURLE_SEND_ERROR, facts.isPeerGone else { return nil }
      return verdict(.gone, facts.sides(), facts.text)
    }

    /// A connection that ended before a response.
    @Sendable private static func closed(_ facts: CurlFacts) -> Verdict? {
      let isLost = [CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(facts.code)
      guard isLost || [CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING].contains(facts.code) else { return nil }
      var sides = facts.sides()
      sides.mayMissCertificate = facts.mayMissCertificate
      return verdict(isLost ? .lost : .closed, sides, isLost ? facts.text : nil)
    }

    /// Depending on its version, libcurl reports an invalid chunk with the code of a lost connection or of a bad argument.
    @Sendable private static func invalidChunks(_ facts: CurlFacts) -> Verdict? {
      guard facts.response.isHeadComplete, [CURLE_RECV_ERROR, CURLE_BAD_FUNCTION_ARGUMENT].contains(facts.code),
        facts.code == CURLE_BAD_FUNCTION_ARGUMENT || facts.text.lowercased().contains("chunk")
      else { return nil }
      let cause = facts.code == CURLE_RECV_ERROR ? ": \(facts.text)" : ""
      return (.parse, "the body from \(facts.host) has invalid chunks\(cause); check the server")
    }

    @Sendable private static func truncated(_ facts: CurlFacts) -> Verdict? {
      guard facts.response.status >= 200 else { return nil }
      guard facts.response.isHeadComplete else {
        let codes = [CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR]
        return codes.contains(facts.code) ? (.connection, incompleteHead(facts.sides().peer)) : nil
      }
      switch facts.code {
      case CURLE_PARTIAL_FILE: return (.connection, incompleteBody(facts.host, facts.handle))
      case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
        return (.connection, "the connection was lost: \(incompleteBody(facts.host, facts.handle, facts.text))")
      default: return nil
      }
    }

    @Sendable private static func invalidHead(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_WEIRD_SERVER_REPLY, facts.response.status > 0 else { return nil }
      return (.parse, "the response header from \(facts.host) is not valid: \(facts.text); check the server")
    }

    @Sendable private static func tooLargeHead(_ facts: CurlFacts) -> Verdict? {
      guard [CURLE_OUT_OF_MEMORY, CURLE_TOO_LARGE].contains(facts.code), !facts.response.isHeadComplete,
        facts.response.status > 0
      else { return nil }
      return (
        .parse,
        "the response header from \(facts.host) has a line longer than libcurl's limit of 100 KB, or is too "
          + "large in total; check the server"
      )
    }

    @Sendable private static func unusableKey(_ facts: CurlFacts) -> Verdict? {
      guard [CURLE_SSL_CONNECT_ERROR, CURLE_BAD_FUNCTION_ARGUMENT].contains(facts.code), facts.text.contains("key file")
      else { return nil }
      return verdict(.unusableIdentity, facts.sides(), facts.text)
    }

    /// libcurl uses `CURLE_UNSUPPORTED_PROTOCOL` for the scheme of a URL, and for a response that is not HTTP.
    @Sendable private static func protocolOfResponse(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_UNSUPPORTED_PROTOCOL, !facts.text.contains("not supported or disabled") else {
        return nil
      }
      return verdict(.notHTTP, facts.sides(), facts.text)
    }
  }
#endif
