#if canImport(CLibcurl)
  import PortableFoundation

  extension CurlTransport {
    /// The settings of the transport. The defaults suit a JSON client.
    public struct Configuration: Sendable {
      /// The settings of TLS. Some TLS libraries of libcurl lack a setting, such as pins; requests then fail with `tls`
      /// before anything is sent.
      public var tls: TLSOptions
      /// The proxy for all requests.
      public var proxy: ProxyOptions
      /// The maximum number of connections to one host and port; further requests wait. With HTTP/2, up to 100 requests
      /// share one connection.
      ///
      /// Over HTTP/1.1, the limit divided by the latency is the maximum rate of requests. The default is 64: see
      /// `docs/benchmarks.md`, "Connections per host".
      public var maxConnectionsPerHost: Int
      /// The maximum number of connections in total; further requests wait. The default, 256, is enough for four hosts at
      /// their limit, and far below the usual limit of 1,024 descriptors per process.
      public var maxConnections: Int
      /// The maximum number of bytes in a body in memory, after its content coding is removed, unless the request sets
      /// its own limit (`Request.Options.maxBodySize`). A larger body fails with `tooLarge`. The default, 32 MB, is
      /// far above the usual JSON: decoded models use up to ten times the memory of their text, so a decompression bomb
      /// of a few kilobytes must end before that fills the memory.
      public var maxBodySize: Int
      /// The maximum time, rounded up to seconds, for which an idle connection is kept for reuse; more than zero. The
      /// default, 55 s, is below the 60 to 75 s after which many servers and load balancers close it. With libcurl's
      /// default of 118 s, requests would use connections that are being closed.
      public var maxIdleTime: Duration
      /// The maximum number of requests on one HTTP/1.1 connection, at least 1; `nil` for no limit. A shared HTTP/2
      /// connection is closed when it has served that many requests and all of them have ended.
      public var maxRequestsPerConnection: Int?
      /// The addresses that replace hosts, for canaries, tests and local services. Each key is a host name or an IP
      /// address, with or without a port: `api.example.com`, `api.example.com:8443`, `[::1]:8080`.
      ///
      /// The addresses also apply to redirects and WebSockets.
      public var addresses: [String: AddressOverride]
      /// The `User-Agent` of requests that have none, such as `Shop NetLayer/0.1 (Linux)` by default; `nil` to send no
      /// such field.
      public var userAgent: String?
      /// The `addresses` in a form for lookups.
      var directory = Directory()

      /// Creates a configuration. See the properties for the defaults.
      public init(
        tls: TLSOptions = TLSOptions(), proxy: ProxyOptions = .none, maxConnectionsPerHost: Int = 64,
        maxConnections: Int = 256,
        maxBodySize: Int = 32 << 20, maxIdleTime: Duration = .seconds(55), maxRequestsPerConnection: Int? = nil,
        addresses: [String: AddressOverride] = [:], userAgent: String? = Self.defaultUserAgent
      ) {
        self.tls = tls
        self.proxy = proxy
        self.maxConnectionsPerHost = maxConnectionsPerHost
        self.maxConnections = maxConnections
        self.maxBodySize = maxBodySize
        self.maxIdleTime = maxIdleTime
        self.maxRequestsPerConnection = maxRequestsPerConnection
        self.addresses = addresses
        self.userAgent = userAgent
      }

      /// The name of the program, this package's version, and the system.
      public static var defaultUserAgent: String { UserAgent.standard }

      /// The `maxIdleTime` in the unit of libcurl.
      var idleSeconds: Int { Int(Swift.min(Swift.max(1, maxIdleTime.inSeconds.rounded(.up)), 1e6)) }
    }
  }

  extension CurlTransport.Configuration {
    var failure: NetworkError? {
      if let failure = tls.failure ?? UserAgent.failure(of: userAgent) { return failure }
      if case .pem = tls.trust.kind, !CurlLibrary.hasBlobs {
        return NetworkError(
          kind: .tls,
          reason: "in-memory certificates require libcurl 7.77 or later; set a file in TLSOptions.trust")
      }
      if case .pkcs12 = tls.identity?.kind {
        return NetworkError(
          kind: .tls,
          reason: "CurlTransport does not read PKCS#12 data; convert it with "
            + "`openssl pkcs12 -in FILE -out identity.pem`, and set the PEM file in TLSOptions.identity")
      }
      for (name, value) in [("maxConnectionsPerHost", maxConnectionsPerHost), ("maxConnections", maxConnections)]
      where value < 1 {
        return invalid("Configuration.\(name) is \(value), which prevents all requests; set at least 1")
      }
      if let limit = maxRequestsPerConnection, limit < 1 {
        return invalid("Configuration.maxRequestsPerConnection is \(limit); set at least 1, or nil for no limit")
      }
      if maxRequestsPerConnection != nil, !CurlLibrary.asksBeforeSending {
        return invalid(
          "Configuration.maxRequestsPerConnection requires libcurl 7.80 or later; update libcurl, or remove the limit")
      }
      if maxBodySize < 0 { return invalid("Configuration.maxBodySize is \(maxBodySize); set 0 or more bytes") }
      guard maxIdleTime > .zero else {
        return invalid("Configuration.maxIdleTime is \(maxIdleTime.text); set a positive duration")
      }
      return proxy.failure
    }

    private func invalid(_ reason: String) -> NetworkError { NetworkError(kind: .invalidRequest, reason: reason) }
  }
#endif
