#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension URLSessionTransport {
    /// The settings of the transport. The defaults suit a JSON client.
    ///
    /// ```swift
    /// let configuration = URLSessionTransport.Configuration { session in
    ///   session.allowsCellularAccess = false
    /// }
    /// ```
    ///
    /// A setting that `URLSession` does not support makes each request fail with `invalidRequest`, before anything is
    /// sent. The reason names the setting and the remedy.
    public struct Configuration: Sendable {
      /// The settings of TLS, on Apple platforms. On Linux, only the defaults are supported.
      ///
      /// `pins` also accept the key of a CA in the server's chain. With `trust` or a pin for the host, the server must
      /// send its intermediate certificates, because the transport does not download missing ones. `identity` must be
      /// PKCS#12 data.
      public var tls: TLSOptions
      /// The proxy for all requests; `nil` for the proxy that `configure` sets, or otherwise the system's. The default
      /// is `nil`, because users and administrators select proxies in the system's settings.
      ///
      /// On Apple platforms, `ProxyOptions.environment`, the scheme `socks5` and exceptions that are not domains are
      /// not supported. On Linux, Foundation always uses the proxies of the environment.
      public var proxy: ProxyOptions?
      /// The maximum number of connections to one host, at least 1; further requests wait. The default is 6, as in
      /// browsers.
      public var maxConnectionsPerHost: Int
      /// The maximum number of bytes in a body. A larger body fails with `tooLarge`. The default, 32 MB, is far above
      /// the usual JSON.
      public var maxBodySize: Int
      /// Changes the configuration of the session before it is created, for example to exclude expensive networks. The
      /// transport calls it on its own queues, once for each session. Each pinned host and each WebSocket has its own
      /// session.
      ///
      /// The limits of `Request.Timeouts` include the time for which `waitsForConnectivity` waits. The transport then
      /// sets the following properties itself:
      ///
      /// | Property | Value |
      /// |---|---|
      /// | cookie storage, policy and `httpShouldSetCookies` | none; `Request.Options.cookies` stores cookies |
      /// | `urlCache`, `requestCachePolicy` | none; `CacheInterceptor` caches responses |
      /// | `urlCredentialStorage` | none, so that no credential of another session is sent |
      /// | `httpAdditionalHeaders` | none, because they would be sent to other hosts after redirects |
      /// | `timeoutIntervalForRequest`, `timeoutIntervalForResource` | above the limits of `Request.Timeouts`, which apply |
      /// | `httpMaximumConnectionsPerHost` | `maxConnectionsPerHost` |
      /// | `tlsMinimumSupportedProtocolVersion` | the minimum of `tls` |
      /// | `proxyConfigurations`, `connectionProxyDictionary` | `proxy`, unless it is `nil` |
      ///
      /// Redirects are not a property: the session's delegate decides them, as `Request.Options.redirects` states.
      public var configure: @Sendable (URLSessionConfiguration) -> Void

      /// Creates a configuration. See the properties for the defaults.
      public init(
        tls: TLSOptions = TLSOptions(), proxy: ProxyOptions? = nil, maxConnectionsPerHost: Int = 6,
        maxBodySize: Int = 32 << 20, configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
      ) {
        self.tls = tls
        self.proxy = proxy
        self.maxConnectionsPerHost = maxConnectionsPerHost
        self.maxBodySize = maxBodySize
        self.configure = configure
      }
    }
  }

  extension URLSessionTransport.Configuration {
    /// The implementations of `URLSession`, which support different settings.
    enum Platform {
      case apple
      case linux

      static var current: Platform {
        #if canImport(FoundationNetworking)
          .linux
        #else
          .apple
        #endif
      }
    }

    /// Returns the error of an invalid setting, or of one that `URLSession` does not support on `platform`; otherwise
    /// `nil`.
    func failure(
      on platform: Platform = .current, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> NetworkError? {
      if let failure = tls.failure { return failure }
      if maxConnectionsPerHost < 1 {
        return Self.invalid(
          "Configuration.maxConnectionsPerHost is \(maxConnectionsPerHost), which prevents all requests; set at least 1"
        )
      }
      if maxBodySize < 0 {
        return Self.invalid("Configuration.maxBodySize is \(maxBodySize); set 0 or more bytes")
      }
      switch platform {
      case .apple: return failureOnApple
      case .linux: return failureOnLinux(environment)
      }
    }

    private var failureOnApple: NetworkError? {
      if case .pem = tls.identity?.kind {
        return Self.invalid(
          "URLSession does not support PEM files in TLSOptions.identity; convert them with `openssl pkcs12 -export`, "
            + "and use TLSOptions.Identity.pkcs12")
      }
      do throws(NetworkError) {
        if case .server(let server) = try SessionProxy(proxy), server.kind == .https, tls.trust != .system {
          return Self.invalid(
            "URLSession does not support TLSOptions.trust with an https proxy; use an http proxy, or the system's CAs")
        }
      } catch {
        return error
      }
      return nil
    }

    private func failureOnLinux(_ environment: [String: String]) -> NetworkError? {
      let plain = TLSOptions()
      for (name, isDefault) in [
        ("trust", tls.trust == plain.trust), ("identity", tls.identity == nil), ("pins", tls.pins.isEmpty),
        ("minVersion", tls.minVersion == plain.minVersion),
      ] where !isDefault {
        return Self.invalid("URLSession on Linux does not support TLSOptions.\(name); use CurlTransport")
      }
      switch proxy?.kind {
      case nil, .environment: return ProxyOptions.failure(of: environment)
      case .url:
        return Self.invalid(
          "URLSession on Linux does not support ProxyOptions.url; use CurlTransport, or environment variables")
      case ProxyOptions.Kind.none?:
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.first { environment[$0]?.isEmpty == false }.map {
          Self.invalid(
            "URLSession on Linux does not support ProxyOptions.none while the variable \($0) names a proxy; use "
              + "CurlTransport, or remove the variable")
        }
      }
    }

    private static func invalid(_ reason: String) -> NetworkError {
      NetworkError(kind: .invalidRequest, reason: reason)
    }
  }
#endif
