#if canImport(CCurl)
  import PortableFoundation

  extension CurlTransport {
    /// What can be set; the defaults serve a JSON client.
    public struct Configuration: Sendable {
      /// What is trusted, shown and asked for in TLS.
      public var tls: TLS
      /// What stands between here and the servers.
      public var proxy: Proxy
      /// The most connections to one host and port. Six is what browsers use (RFC 9112 §9.4 asks for restraint);
      /// requests beyond wait. HTTP/2 shares one connection among up to a hundred requests.
      public var maxConnectionsPerHost: Int
      /// The most connections altogether; requests beyond wait. 64 serve ten hosts at their limit, and stay far below the
      /// 256 descriptors that some systems allow a process.
      public var maxConnections: Int
      /// The most bytes a body may have, content coding removed, where it is kept in memory and the request says nothing
      /// else (`Request.Options.maxBodySize`). 256 MB is far above any JSON and stops a compressed bomb before it fills
      /// the memory; more fails with `connection`.
      public var maxBodySize: Int
      /// The longest time in seconds, rounded up to whole ones, for which a connection without a request is used again.
      /// Many servers and load balancers close theirs after 60 to 75 s; libcurl's own 118 s would meet some of these as
      /// they close.
      public var maxIdleTime: Double
      /// The most requests on one HTTP/1.1 connection, at least 1; `nil` for no limit. A shared HTTP/2 connection is given
      /// up when it has served as many and none is left on it.
      public var maxRequestsPerConnection: Int?
      /// Addresses that take the place of hosts, for canaries, tests and local services. Each key is a host, a name or an IP
      /// address, alone for all its ports or with one port: `api.example.com`, `api.example.com:8443`, `[::1]:8080`.
      ///
      /// They hold for redirects and WebSockets, too.
      public var addresses: [String: Address]
      /// `addresses`, as requests look them up.
      var directory = Directory()

      /// The defaults, changed where arguments say so.
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

      /// `maxIdleTime` as libcurl takes it.
      var idleSeconds: Int { Int(Swift.min(Swift.max(1, maxIdleTime.rounded(.up)), 1e6)) }
    }

    /// What is trusted, shown and asked for in TLS; certificates and host names are always verified. `trust` and
    /// `minimumVersion` hold for an `https` proxy, too; `identity` and `pins` for servers alone. What the libcurl found
    /// does not take, as some TLS libraries know no pins, fails requests with `tls` before anything is sent.
    public struct TLS: Sendable {
      /// Whose certificates count.
      public enum Trust: Sendable {
        /// Those that the system trusts.
        case system
        /// Those that a file of PEM certificates signs, instead of the system's.
        case file(URL)
        /// Those that PEM certificates in memory sign, instead of the system's; needs libcurl 7.77.
        case pem(Data)
      }

      /// What the client shows to servers that ask who it is: files in PEM format.
      public struct Identity: Sendable {
        /// The certificate, and those between it and its CA.
        public var certificate: URL
        /// The private key; it may be in the same file.
        public var key: URL
        /// What the key is encrypted with, if it is.
        public var password: String?

        /// An identity of two files.
        public init(certificate: URL, key: URL, password: String? = nil) {
          self.certificate = certificate
          self.key = key
          self.password = password
        }
      }

      /// The oldest version spoken.
      public enum Version: Sendable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
      }

      /// Whose certificates count.
      public var trust: Trust
      /// What the client shows; `nil` for nothing.
      public var identity: Identity?
      /// For each host, a name or an address alone in upper or lower case, the public keys of which its certificate must
      /// have one, as `sha256//` and the base64 of the key's hash (RFC 7469 §2.4). Give a backup beside the key in use:
      /// with one key lost, the app is locked out.
      public var pins: [String: [String]]
      /// The oldest version spoken; 1.0 and 1.1 are deprecated (RFC 8996).
      public var minimumVersion: Version

      /// The defaults, changed where arguments say so.
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

    /// What stands between here and the servers.
    public enum Proxy: Sendable {
      /// Nothing, whatever the environment says.
      case none
      /// This proxy: an `http`, `https`, `socks5` or `socks5h` URL, with user and password if it asks for them; not for the
      /// hosts and domains of `except`. What it refuses itself is an answer where the URL is `http`, such as 407, and an
      /// error of kind `connection` where it is `https`.
      case url(URL, except: [String] = [])
      /// What the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
      case environment
    }
  }

  extension CurlTransport.TLS {
    /// The pins, each host as requests name theirs: a pin that is not found for its host's spelling would protect nothing.
    var pinsByHost: [String: [String]] {
      Dictionary(pins.map { (Self.plainHost($0.key) ?? $0.key, $0.value) }, uniquingKeysWith: +)
    }

    /// The host of `url` as `pinsByHost` has it.
    static func pinnedHost(_ url: URL) -> String? { url.plainHost.map(oneSpelling) }

    /// An IPv4 address in its usual form, however it is written (`127.1`, `0x7f.1`, `2130706433`): the resolver takes all.
    private static func oneSpelling(_ host: String) -> String {
      var address = in_addr()
      guard host.utf8.first.map({ (0x30...0x39).contains($0) }) == true, inet_aton(host, &address) != 0 else {
        return host
      }
      return withUnsafeBytes(of: address.s_addr) { $0.map(String.init).joined(separator: ".") }
    }

    /// `nil` where `host` is none, or more than one.
    static func plainHost(_ host: String) -> String? {
      guard !host.contains(where: { "/*@?#% ".contains($0) }) else { return nil }
      let lacksBrackets = !host.hasPrefix("[") && host.utf8.filter { $0 == 0x3a }.count > 1
      guard let url = URL(string: "https://\(lacksBrackets ? "[\(host)]" : host)/"), url.port == nil else { return nil }
      return pinnedHost(url).flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  extension CurlTransport.Configuration {
    /// Why this can't be used, or `nil`.
    var failure: NetworkError? {
      func tlsFailure(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
      func isReadable(_ file: URL) -> Bool { FileManager.default.isReadableFile(atPath: file.path) }
      switch tls.trust {
      case .file(let file) where !isReadable(file):
        return tlsFailure("the CA file \(file.path) can't be read; name an existing PEM file in TLS.trust")
      case .pem where !CurlLibrary.isAtLeast(0x07_4d00):
        return tlsFailure("certificates in memory need libcurl 7.77; name a file in TLS.trust")
      default: break
      }
      if let identity = tls.identity, let file = [identity.certificate, identity.key].first(where: { !isReadable($0) })
      {
        return tlsFailure("the file \(file.path) of the client's identity can't be read; name an existing PEM file")
      }
      for (host, pins) in tls.pins {
        guard CurlTransport.TLS.plainHost(host) != nil else {
          return tlsFailure("the pins' \(host.debugDescription) is no host; name one alone, such as api.example.com")
        }
        // An empty list would let every key pass.
        guard !pins.isEmpty else {
          return tlsFailure("there is no pin for \(host); leave the host out to trust its CA")
        }
        for pin in pins where Data(base64Encoded: String(pin.dropFirst(8)))?.count != 32 || !pin.hasPrefix("sha256//") {
          return tlsFailure("the pin \(pin.debugDescription) of \(host) is not sha256// and the base64 of 32 bytes")
        }
      }
      for (name, value) in [("maxConnectionsPerHost", maxConnectionsPerHost), ("maxConnections", maxConnections)]
      where value < 1 {
        return invalid("Configuration.\(name) is \(value), which would let nothing run; give at least 1")
      }
      if let limit = maxRequestsPerConnection, limit < 1 {
        return invalid("Configuration.maxRequestsPerConnection is \(limit); give at least 1, or nil for no limit")
      }
      if maxRequestsPerConnection != nil, !CurlLibrary.asksBeforeSending {
        return invalid("Configuration.maxRequestsPerConnection needs libcurl 7.80; update libcurl, or leave it out")
      }
      if maxBodySize < 0 { return invalid("Configuration.maxBodySize is \(maxBodySize); give 0 or more bytes") }
      guard maxIdleTime > 0 else {
        return invalid("Configuration.maxIdleTime is \(maxIdleTime); give a positive number of seconds")
      }
      return proxy.failure
    }

    private func invalid(_ reason: String) -> NetworkError { NetworkError(kind: .invalidRequest, reason: reason) }
  }

  extension CurlTransport.Proxy {
    private static let ports = ["http": 80, "https": 443, "socks5": 1080, "socks5h": 1080]

    /// The URL as libcurl takes it: without a port, it would mean 1080 for `http`, too.
    static func withPort(_ url: URL) -> String {
      guard url.port == nil, let port = ports[url.scheme?.lowercased() ?? ""],
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      else { return url.absoluteString }
      parts.port = port
      return parts.string ?? url.absoluteString
    }

    /// Why this can't be used, or `nil`.
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

    /// libcurl (all versions up to 8.14) ignores a proxy whose user or password has a control character, so that requests
    /// would go straight to the server.
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
            + "with which libcurl would go past the proxy; remove it")
      }
      return nil
    }
  }

  extension Substring {
    fileprivate var nonEmpty: Substring? { isEmpty ? nil : self }
  }
#endif
