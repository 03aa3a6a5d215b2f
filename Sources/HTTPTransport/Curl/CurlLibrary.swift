#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// The libcurl of this process: whether there is one, and what it can do.
  enum CurlLibrary {
    /// Why libcurl can't be used, or `nil`.
    static let failure: String? = ccurl_load().map { String(cString: $0) }

    private static var info: ccurl_info? { failure == nil ? ccurl_get_info() : nil }

    static let capabilities: CurlTransport.Capabilities? = info.map { info in
      let features = Int(info.features)
      func has(_ feature: Int) -> Bool { features & feature != 0 }
      return CurlTransport.Capabilities(
        version: info.version.map { String(cString: $0) } ?? "?",
        tls: info.tls.map { String(cString: $0) },
        // Before 7.80, libcurl can't be kept from sending a request again, which over HTTP/2 may be one of many.
        http2: has(CCURL_FEATURE_HTTP2) && asksBeforeSending,
        http3: has(CCURL_FEATURE_HTTP3) && isAtLeast(0x08_0500),
        gzip: codingsThere & CCODING_GZIP != 0,
        brotli: codingsThere & CCODING_BROTLI != 0,
        zstd: codingsThere & CCODING_ZSTD != 0)
    }

    private static let codingsThere = Int(ccoding_available())
    static let speaksHTTP2 = capabilities?.http2 == true
    static let speaksHTTP3 = capabilities?.http3 == true

    /// Whether a used easy handle keeps a pointer to a freed header field (7.83 to 8.1.0; fixed by curl 11103).
    static let keepsFreedFields = (0x07_5300...0x08_0100).contains(version)

    /// Whether a head of a request that goes out in parts is forgotten where there is no body (7.x).
    static let losesLongHeads = !isAtLeast(0x08_0000)

    /// Whether the end of an HTTP/2 connection passes for the end of a body (7.x).
    static let missesEndOfStream = !isAtLeast(0x08_0000)

    /// Whether an HTTP/2 connection keeps pointing to the easy handle of a request that was taken from it before it had room to
    /// be sent (to 8.13).
    static let remembersUnsent = !isAtLeast(0x08_0e00)

    /// Why the library can't send `request` in the version of HTTP that it asks for, or `nil`.
    static func failure(of request: Request) -> NetworkError? {
      let version = request.chosenOptions?.value.httpVersion ?? .automatic
      let need: String
      switch version {
      case .http2PriorKnowledge where !speaksHTTP2: need = "libcurl 7.80 or later with HTTP/2"
      case .http3 where !speaksHTTP3: need = "libcurl 8.5 or later with HTTP/3 (Debian 13: libcurl3t64-gnutls)"
      default: return nil
      }
      return NetworkError(
        kind: .invalidRequest,
        reason: "HTTPVersion.\(version) needs \(need), and libcurl \(capabilities?.version ?? "?") here has none; "
          + "install that, or use HTTPVersion.automatic", request: request)
    }

    /// Whether a kept connection that speaks HTTP/2 without TLS is told a second time that it shall (7.88; fixed by curl 10643).
    static let repeatsPriorKnowledge = (0x07_5800...0x07_58ff).contains(version)

    /// Whether the head of an HTTP/2 request that does not go out at once is sent again as the beginning of the body (7.88.0 to
    /// 8.0.1).
    static let sendsHeadsTwice = (0x07_5800...0x08_0001).contains(version)

    static let speaksTLS = capabilities?.tls != nil

    /// The content codings that it decodes, as `Accept-Encoding` names them; empty where there is none.
    static let codings: String = {
      guard let can = capabilities else { return "" }
      let all = [("deflate, gzip", can.gzip), ("br", can.brotli), ("zstd", can.zstd)]
      return all.filter(\.1).map(\.0).joined(separator: ", ")
    }()

    /// Whether the library is at least the version `number`, as in 0x075500 for 7.85.0.
    static func isAtLeast(_ number: UInt32) -> Bool { version >= number }

    /// Whether it tells of each time that a request begins to go out, and may be told not to (7.80).
    static let asksBeforeSending = isAtLeast(0x07_5000)

    /// Whether an HTTP/2 connection that ends is an error of its own, and no reason for libcurl to send a request again.
    static let failsAtEndOfConnection = isAtLeast(0x08_0200)

    private static let version = info?.number ?? 0

    /// A CA bundle to name explicitly, where the one libcurl was built with does not exist on this system (a libcurl
    /// built for another distribution); `nil` leaves libcurl its own.
    static let fallbackCAFile: String? = {
      func exists(_ path: UnsafePointer<CChar>?) -> Bool {
        path.map { FileManager.default.fileExists(atPath: String(cString: $0)) } ?? false
      }
      guard let info, !exists(info.ca_file), !exists(info.ca_directory) else { return nil }
      return [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
      ].first { FileManager.default.fileExists(atPath: $0) }
    }()
  }

  /// What libcurl itself said about a failure: the `underlying` of a `NetworkError` from `CurlTransport`.
  package struct CurlError: Error, Hashable, CustomStringConvertible {
    /// The CURLcode, such as 7 for a refused connection (libcurl-errors(3)).
    public let code: Int
    /// libcurl's own words, with the address where it knows one.
    public let text: String

    /// Code and text on one line.
    public var description: String { "libcurl error \(code): \(text)" }
  }
#endif
