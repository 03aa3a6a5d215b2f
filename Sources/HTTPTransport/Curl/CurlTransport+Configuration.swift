#if canImport(CCurl)
  import PortableFoundation

  extension CurlTransport {
    /// The settings of the transport. The defaults suit a JSON client.
    public struct Configuration: Sendable {
      /// The settings of TLS.
      public var tls: TLS
      /// The proxy for all requests.
      public var proxy: Proxy
      /// The maximum number of connections to one host and port; further requests wait. The default is 6, as in
      /// browsers (RFC 9112 §9.4 recommends restraint). With HTTP/2, up to 100 requests share one connection.
      public var maxConnectionsPerHost: Int
      /// The maximum number of connections in total; further requests wait. The default, 64, serves ten hosts at their
      /// limit, and is far below the 256 descriptors that some systems allow a process.
      public var maxConnections: Int
      /// The maximum number of bytes in a body in memory, after its content coding is removed, unless the request sets
      /// its own (`Request.Options.maxBodySize`). A larger body fails with `tooLarge`. The default, 256 MB, is far
      /// above any JSON and stops a decompression bomb before it fills the memory.
      public var maxBodySize: Int
      /// The maximum time in seconds, rounded up, for which an idle connection is kept for reuse. The default, 55 s, is
      /// below the 60 to 75 s after which many servers and load balancers close it. With libcurl's default of 118 s,
      /// requests would meet connections that are being closed.
      public var maxIdleTime: Double
      /// The maximum number of requests on one HTTP/1.1 connection, at least 1; `nil` for no limit. A shared HTTP/2
      /// connection is closed when it has served that many requests and none is left on it.
      public var maxRequestsPerConnection: Int?
      /// The addresses that replace hosts, for canaries, tests and local services. Each key is a host name or an IP
      /// address, alone for all its ports or with one port: `api.example.com`, `api.example.com:8443`, `[::1]:8080`.
      ///
      /// The addresses also apply to redirects and WebSockets.
      public var addresses: [String: Address]
      /// The `addresses` in a form for lookups.
      var directory = Directory()

      /// Creates a configuration. The documentation of the properties explains the defaults.
      public init(
        tls: TLS = TLS(), proxy: Proxy = .none, maxConnectionsPerHost: Int = 6, maxConnections: Int = 64,
        maxBodySize: Int = 256 << 20, maxIdleTime: Double = 55, maxRequestsPerConnection: Int? = nil,
        addresses: [String: Address] = [:]
      ) {
        self.tls = tls
        self.proxy = proxy
        self.maxConnectionsPerHost = maxConnectionsPerHost
        self.maxConnections = maxConnections
        self.maxBodySize = maxBodySize
        self.maxIdleTime = maxIdleTime
        self.maxRequestsPerConnection = maxRequestsPerConnection
        self.addresses = addresses
      }

      /// The `maxIdleTime` in the unit of libcurl.
      var idleSeconds: Int { Int(Swift.min(Swift.max(1, maxIdleTime.rounded(.up)), 1e6)) }
    }

    /// The settings of TLS. Certificates and host names are always verified. `trust` and `minimumVersion` also apply to
    /// an `https` proxy; `identity` and `pins` apply to servers only. If libcurl does not support a setting (some TLS
    /// libraries lack pins), requests fail with `tls` before anything is sent.
    public struct TLS: Sendable {
      /// The certificate authorities (CAs) to trust.
      public enum Trust: Sendable {
        /// The CAs of the system.
        case system
        /// The CAs in a file of PEM certificates, instead of the system's.
        case file(URL)
        /// The CAs in PEM certificates in memory, instead of the system's. Needs libcurl 7.77.
        case pem(Data)
      }

      /// The client certificate for servers that require one: files in PEM format.
      public struct Identity: Sendable {
        /// The certificate, and the intermediate certificates up to its CA.
        public var certificate: URL
        /// The private key, which may be in the same file.
        public var key: URL
        /// The password of an encrypted key; otherwise `nil`.
        public var password: String?

        /// Creates an identity from its files.
        public init(certificate: URL, key: URL, password: String? = nil) {
          self.certificate = certificate
          self.key = key
          self.password = password
        }
      }

      /// A version of TLS.
      public enum Version: Sendable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
      }

      /// The CAs to trust.
      public var trust: Trust
      /// The client certificate; `nil` for none.
      public var identity: Identity?
      /// The pinned public keys by host, of which the server's certificate must have one. A host is a name or an IP
      /// address, in any case. A key is `sha256//` and the base64 of its hash (RFC 7469 §2.4). Always add a backup key:
      /// if the only key is lost, the app can't connect any more.
      public var pins: [String: [String]]
      /// The minimum version; 1.0 and 1.1 are deprecated (RFC 8996).
      public var minimumVersion: Version

      /// Creates TLS settings. The documentation of the properties explains the defaults.
      public init(
        trust: Trust = .system, identity: Identity? = nil, pins: [String: [String]] = [:],
        minimumVersion: Version = .v1_2
      ) {
        self.trust = trust
        self.identity = identity
        self.pins = pins
        self.minimumVersion = minimumVersion
      }
    }

    /// The proxy between the client and the servers.
    public enum Proxy: Sendable {
      /// No proxy, regardless of the environment.
      case none
      /// A proxy with an `http`, `https`, `socks5` or `socks5h` URL, which includes the user and password if the proxy
      /// requires them. It is not used for the hosts and domains of `except`.
      ///
      /// A rejection by the proxy itself, such as status 407, is a response if the URL is `http`, and an error of kind
      /// `connection` if it is `https`.
      case url(URL, except: [String] = [])
      /// The proxy of the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
      case environment
    }
  }

  extension CurlTransport.TLS {
    /// The pins by normalized host. A pin under a different spelling of its host would have no effect.
    var pinsByHost: [String: [String]] {
      Dictionary(pins.map { (Self.plainHost($0.key) ?? $0.key, $0.value) }, uniquingKeysWith: +)
    }

    /// Returns the host of `url` as a key of `pinsByHost`.
    static func pinnedHost(_ url: URL) -> String? { url.plainHost.map(oneSpelling) }

    /// Normalizes an IPv4 address, because the resolver accepts many spellings (`127.1`, `0x7f.1`, `2130706433`).
    private static func oneSpelling(_ host: String) -> String {
      var address = in_addr()
      guard host.utf8.first.map({ (0x30...0x39).contains($0) }) == true, inet_aton(host, &address) != 0 else {
        return host
      }
      return withUnsafeBytes(of: address.s_addr) { $0.map(String.init).joined(separator: ".") }
    }

    /// Returns the normalized host; `nil` if `host` is not a host alone.
    static func plainHost(_ host: String) -> String? {
      guard !host.contains(where: { "/*@?#% ".contains($0) }) else { return nil }
      let lacksBrackets = !host.hasPrefix("[") && host.utf8.filter { $0 == 0x3a }.count > 1
      guard let url = URL(string: "https://\(lacksBrackets ? "[\(host)]" : host)/"), url.port == nil else { return nil }
      return pinnedHost(url).flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  extension CurlTransport.Configuration {
    /// The error of an invalid configuration, or `nil`.
    var failure: NetworkError? {
      func tlsFailure(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
      func isReadable(_ file: URL) -> Bool { FileManager.default.isReadableFile(atPath: file.path) }
      switch tls.trust {
      case .file(let file) where !isReadable(file):
        return tlsFailure("the CA file \(file.path) can't be read; set an existing PEM file in TLS.trust")
      case .pem where !CurlLibrary.isAtLeast(0x07_4d00):
        return tlsFailure("certificates in memory need libcurl 7.77; set a file in TLS.trust")
      default: break
      }
      if let identity = tls.identity, let file = [identity.certificate, identity.key].first(where: { !isReadable($0) })
      {
        return tlsFailure("the file \(file.path) of the client's identity can't be read; set an existing PEM file")
      }
      for (host, pins) in tls.pins {
        guard CurlTransport.TLS.plainHost(host) != nil else {
          return tlsFailure("TLS.pins: \(host.debugDescription) is not a valid host; use one such as api.example.com")
        }
        // An empty list would accept every key.
        guard !pins.isEmpty else {
          return tlsFailure("TLS.pins has no pin for \(host); remove the host to trust its CA")
        }
        for pin in pins where Data(base64Encoded: String(pin.dropFirst(8)))?.count != 32 || !pin.hasPrefix("sha256//") {
          return tlsFailure("the pin \(pin.debugDescription) of \(host) is not sha256// and the base64 of 32 bytes")
        }
      }
      for (name, value) in [("maxConnectionsPerHost", maxConnectionsPerHost), ("maxConnections", maxConnections)]
      where value < 1 {
        return invalid("Configuration.\(name) is \(value), so that no request could run; set at least 1")
      }
      if let limit = maxRequestsPerConnection, limit < 1 {
        return invalid("Configuration.maxRequestsPerConnection is \(limit); set at least 1, or nil for no limit")
      }
      if maxRequestsPerConnection != nil, !CurlLibrary.asksBeforeSending {
        return invalid("Configuration.maxRequestsPerConnection needs libcurl 7.80; update libcurl, or remove the limit")
      }
      if maxBodySize < 0 { return invalid("Configuration.maxBodySize is \(maxBodySize); set 0 or more bytes") }
      guard maxIdleTime > 0 else {
        return invalid("Configuration.maxIdleTime is \(maxIdleTime); set a positive number of seconds")
      }
      return proxy.failure
    }

    private func invalid(_ reason: String) -> NetworkError { NetworkError(kind: .invalidRequest, reason: reason) }
  }

  extension CurlTransport.Proxy {
    private static let ports = ["http": 80, "https": 443, "socks5": 1080, "socks5h": 1080]

    /// Returns the URL with its port. Without one, libcurl would use 1080 also for `http`.
    static func withPort(_ url: URL) -> String {
      guard url.port == nil, let port = ports[url.scheme?.lowercased() ?? ""],
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      else { return url.absoluteString }
      parts.port = port
      return parts.string ?? url.absoluteString
    }

    /// The error of an invalid proxy, or `nil`.
    var failure: NetworkError? {
      switch self {
      case .none: return nil
      case .url(let url, _):
        guard Self.ports[url.scheme?.lowercased() ?? ""] != nil, url.host?.isEmpty == false else {
          return NetworkError(
            kind: .invalidRequest,
            reason: "the proxy \(Redaction.standard.url(url)) needs a scheme http, https, socks5 or socks5h, and a host"
          )
        }
        return Self.credentialsFailure(url.absoluteString, "Configuration.proxy")
      case .environment:
        let environment = ProcessInfo.processInfo.environment
        return ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].lazy
          .compactMap { name in environment[name].flatMap { Self.credentialsFailure($0, "the variable \(name)") } }
          .first
      }
    }

    /// Returns an error for a user or password with a control character. libcurl (all versions up to 8.14) ignores such
    /// a proxy, so that requests would go directly to the server.
    private static func credentialsFailure(_ url: String, _ place: String) -> NetworkError? {
      guard let authority = url.firstRange(of: "://").map({ url[$0.upperBound...] }) ?? url[...].nonEmpty else {
        return nil
      }
      let end = authority.firstIndex { "/?#".contains($0) } ?? authority.endIndex
      guard let at = authority[..<end].lastIndex(of: "@") else { return nil }
      var bytes = authority[..<at].utf8[...]
      while let byte = bytes.popFirst() {
        var value = byte
        if byte == 0x25, bytes.count >= 2, let code = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16)
        {
          value = code
          bytes = bytes.dropFirst(2)
        }
        guard value < 0x20 || value == 0x7f else { continue }
        return NetworkError(
          kind: .invalidRequest,
          reason:
            "the user or password of the proxy in \(place) has the control character 0x\(String(value, radix: 16)), "
            + "with which libcurl would bypass the proxy; remove it")
      }
      return nil
    }
  }

  extension Substring {
    fileprivate var nonEmpty: Substring? { isEmpty ? nil : self }
  }
#endif
