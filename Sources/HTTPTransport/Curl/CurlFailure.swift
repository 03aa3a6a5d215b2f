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
  }

  extension CurlOperation {
    var isSecure: Bool { currentURL.utf8.dropFirst(4).first.map { $0 | 0x20 == 0x73 } ?? false }
  }

  extension CurlTransfer: CurlOperation {}

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
        CURLE_COULDNT_RESOLVE_PROXY: (
          .unknownHost, { _ in "the proxy's host can't be resolved; check Configuration.proxy" }
        ),
        CURLE_COULDNT_RESOLVE_HOST: (
          .unknownHost,
          {
            "the host \($0.transfer.currentRequest.url.host ?? "") can't be resolved; check its spelling and the network"
          }
        ),
        CURLE_COULDNT_CONNECT: (.connection, refused),
        CURLE_WEIRD_SERVER_REPLY: (.parse, notHTTP),
        CURLE_HTTP2: (.connection, http2Error),
        CURLE_HTTP2_STREAM: (.connection, http2Error),
        CURLE_PARTIAL_FILE: (.connection, closedWithoutResponse),
        CURLE_GOT_NOTHING: (.connection, closedWithoutResponse),
        CURLE_OUT_OF_MEMORY: (
          .connection,
          {
            "libcurl has too little memory for the request to \($0.host), or the request header is too large; move "
              + "large values into the body"
          }
        ),
        CURLE_OPERATION_TIMEDOUT: (.timeout, { connectTimeoutReason($0.transfer) }),
        CURLE_SEND_ERROR: (.connection, lostBeforeResponse),
        CURLE_RECV_ERROR: (.connection, lostBeforeResponse),
        CURLE_SSL_CERTPROBLEM: (.tls, unusableIdentity),
        CURLE_BAD_CONTENT_ENCODING: (
          .parse, { "the body from \($0.host) does not match its Content-Encoding; check the server" }
        ),
        CURLE_SEND_FAIL_REWIND: (
          .connection,
          { "\($0.host) requested the body again, which can be sent only once; use a repeatable BodyStream" }
        ),
        CURLE_SSL_CACERT_BADFILE: (
          .tls,
          {
            "the certificates of the CAs can't be read: \($0.text); check TLSOptions.trust, or install the system's CAs "
              + "(Debian: ca-certificates)"
          }
        ),
        CURLE_QUIC_CONNECT_ERROR: (
          .connection,
          {
            "could not connect with HTTP/3 to \($0.hostAndText); check that the server supports HTTP/3 on that UDP port, "
              + "or use HTTPVersion.automatic"
          }
        ),
        CURLE_PROXY: (
          .connection, { "the proxy \($0.proxy ?? "") rejected \($0.hostAndText); check Configuration.proxy" }
        ),
      ]
      for code in [
        CURLE_SSL_CONNECT_ERROR, CURLE_OBSOLETE51, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
        CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
      ] {
        table[code] = (.tls, failedHandshake)
      }
      return table
    }()

    @Sendable private static func rejectedURL(_ facts: CurlFacts) -> String {
      "libcurl rejected the URL \(facts.transfer.currentURL): \(facts.text)"
    }

    @Sendable private static func notHTTP(_ facts: CurlFacts) -> String {
      "\(facts.host) did not respond with HTTP: \(facts.text); check the port"
    }

    @Sendable private static func refused(_ facts: CurlFacts) -> String {
      if let limit = facts.systemLimit { return "could not connect to \(facts.hostAndText): \(limit)" }
      if let address = facts.handle.attempt.address {
        return
          "could not connect to \(facts.host) at \(address.text): \(facts.text); check Configuration.addresses, and "
          + "that a server is listening there"
      }
      if let proxy = facts.proxy {
        return "could not connect to \(facts.host) through the proxy \(proxy): \(facts.text); check "
          + "Configuration.proxy, and that a proxy is listening there"
      }
      return "could not connect to \(facts.hostAndText); check that a server is listening there"
    }

    @Sendable private static func http2Error(_ facts: CurlFacts) -> String {
      "HTTP/2 error with \(facts.hostAndText) (libcurl error \(facts.code.rawValue)); try again"
    }

    @Sendable private static func closedWithoutResponse(_ facts: CurlFacts) -> String {
      "\(facts.host) closed the connection without a response; \(facts.remedy)"
    }

    @Sendable private static func lostBeforeResponse(_ facts: CurlFacts) -> String {
      "the connection to \(facts.host) was lost before the response (\(facts.text)); \(facts.remedy)"
    }

    @Sendable private static func unusableIdentity(_ facts: CurlFacts) -> String {
      "the client certificate or key can't be used for \(facts.host): \(facts.text); check the files and the "
        + "password of TLSOptions.identity"
    }

    @Sendable private static func failedHandshake(_ facts: CurlFacts) -> String {
      if facts.isPlainText, facts.proxy == nil {
        return "\(facts.host) did not respond with TLS: \(facts.text); use another port, or an http URL"
      }
      let isProxys = facts.handle.connectedAt == nil && facts.handle.isSecureProxy && facts.tunnelStatus <= 0
      let target = isProxys ? "the proxy \(facts.proxy ?? "") for \(facts.host)" : facts.host
      return "the TLS handshake with \(target) failed: \(facts.text); check the certificate of the "
        + "\(isProxys ? "proxy" : "server"), or trust its CA with TLSOptions.trust"
    }

    // MARK: The codes with several meanings

    /// The rules for codes whose meaning depends on other facts. The first one that applies wins: for a lost connection,
    /// a cause in the tunnel comes before one in the handshake, and that before one in the response.
    private static let rules: [@Sendable (CurlFacts) -> Verdict?] = [
      refusedTunnel, closedInHandshake, demandedCertificate, peerIsGone, invalidChunks, truncated,
      invalidHead, tooLargeHead,
      unusableKey,
      protocolOfResponse,
    ]

    /// The code is `CURLE_COULDNT_CONNECT` since libcurl 8.15.
    @Sendable private static func refusedTunnel(_ facts: CurlFacts) -> Verdict? {
      guard [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR].contains(facts.code), facts.tunnelStatus > 0, !facts.hasTunnel
      else { return nil }
      return (
        .connection,
        "the proxy \(facts.proxy ?? "") responded to CONNECT to \(facts.host) with \(facts.tunnelStatus); check "
          + "Configuration.proxy, including its user and password"
      )
    }

    /// Not a verdict about a certificate: a server or balancer that restarts closes connections like this. GnuTLS reports
    /// a reset that it reads as `CURLE_RECV_ERROR`.
    @Sendable private static func closedInHandshake(_ facts: CurlFacts) -> Verdict? {
      guard
        facts.code == CURLE_SSL_CONNECT_ERROR && facts.isHangUp || facts.code == CURLE_RECV_ERROR && facts.isInHandshake
      else { return nil }
      return (
        .connection,
        "\(facts.proxy.map { "the proxy \($0) or " } ?? "")\(facts.host) closed the connection during the TLS "
          + "handshake (\(facts.text)); check that the port uses TLS, and what the server requires"
      )
    }

    @Sendable private static func demandedCertificate(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_RECV_ERROR, facts.isCertificateDemand else { return nil }
      return (
        .tls,
        "\(facts.host) requires a client certificate or does not accept it: \(facts.text); set one in "
          + "TLSOptions.identity"
      )
    }

    @Sendable private static func peerIsGone(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_RECV_ERROR || facts.code == CURLE_SEND_ERROR, facts.isPeerGone else { return nil }
      return (
        .timeout,
        "\(facts.host) no longer responds on the open connection: \(facts.text); try again, or check the network"
      )
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
      return (.tls, unusableIdentity(facts))
    }

    /// libcurl uses `CURLE_UNSUPPORTED_PROTOCOL` for the scheme of a URL, and for a response that is not HTTP.
    @Sendable private static func protocolOfResponse(_ facts: CurlFacts) -> Verdict? {
      guard facts.code == CURLE_UNSUPPORTED_PROTOCOL, !facts.text.contains("not supported or disabled") else {
        return nil
      }
      return (.parse, notHTTP(facts))
    }
  }
#endif
