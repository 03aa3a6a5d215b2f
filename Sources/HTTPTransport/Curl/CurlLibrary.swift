#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The result of a function of libcurl (libcurl-errors(3)).
  typealias CURLcode = ccurl_code

  /// The libcurl of this process, and its capabilities.
  enum CurlLibrary {
    /// The reason why libcurl can't be used, or `nil`.
    static let failure: String? = ccurl_load().map { String(cString: $0) }

    private static var info: ccurl_info? { failure == nil ? ccurl_get_info() : nil }

    static let capabilities: CurlTransport.Capabilities? = info.map { info in
      let features = Int(info.features)
      func has(_ feature: Int) -> Bool { features & feature != 0 }
      return CurlTransport.Capabilities(
        version: info.version.map { String(cString: $0) } ?? "?",
        tls: info.tls.map { String(cString: $0) },
        http2: has(CURL_VERSION_HTTP2) && endsLostStreams,
        http3: has(CURL_VERSION_HTTP3) && hasStableHTTP3,
        gzip: availableCodings & CCODING_GZIP != 0,
        brotli: availableCodings & CCODING_BROTLI != 0,
        zstd: availableCodings & CCODING_ZSTD != 0)
    }

    private static let availableCodings = Int(ccoding_available())
    static let speaksHTTP2 = capabilities?.http2 == true
    static let speaksHTTP3 = capabilities?.http3 == true

    /// Returns the error if the library does not support the HTTP version of `request`; otherwise `nil`.
    static func failure(of request: Request) -> NetworkError? {
      let version = (request.chosenOptions?.value.httpVersion ?? .automatic).kind
      let requirement: String
      switch version {
      case .http2 where !speaksHTTP2: requirement = "libcurl 8.14 or later with HTTP/2 (Debian 13: libcurl4t64)"
      case .http3 where !speaksHTTP3: requirement = "libcurl 8.5 or later with HTTP/3 (Debian 13: libcurl3t64-gnutls)"
      default: return nil
      }
      return NetworkError(
        kind: .invalidRequest,
        reason:
          "HTTPVersion.\(version) requires \(requirement); libcurl \(capabilities?.version ?? "?") does not support it; "
          + "install that version, or use HTTPVersion.automatic", request: request)
    }

    static let speaksTLS = capabilities?.tls != nil

    /// The content codings that libcurl decodes, as a value of `Accept-Encoding`; empty if it decodes nothing.
    static let codings: String = {
      guard let can = capabilities else { return "" }
      let all = [("deflate, gzip", can.gzip), ("br", can.brotli), ("zstd", can.zstd)]
      return all.filter(\.1).map(\.0).joined(separator: ", ")
    }()

    /// Returns whether the library has at least the version `number`, such as 0x075500 for 7.85.0.
    static func isAtLeast(_ number: UInt32) -> Bool { version >= number }

    static let version = info?.number ?? 0

    /// The CA bundle to set explicitly if libcurl's default does not exist on this system, for example in a libcurl
    /// built for another distribution; `nil` to keep the default.
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

  /// The error of libcurl behind a failure: the `underlying` of a `NetworkError` from `CurlTransport`.
  package struct CurlError: Error, Hashable, CustomStringConvertible {
    /// The CURLcode, such as 7 for a refused connection (libcurl-errors(3)).
    public let code: Int
    /// libcurl's message, with the address if it is known.
    public let text: String

    /// The code and the message on one line.
    public var description: String { "libcurl error \(code): \(text)" }
  }
#endif
