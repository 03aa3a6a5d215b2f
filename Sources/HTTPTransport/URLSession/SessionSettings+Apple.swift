#if HAS_URLSESSION && canImport(Darwin)
  import Foundation
  import Network
  import Security

  extension URLSessionTransport.Configuration {
    /// Sets the minimum version of TLS and the proxy. `failure` has already excluded unsupported settings.
    func applyTLSAndProxy(to session: URLSessionConfiguration) {
      session.tlsMinimumSupportedProtocolVersion = minimumVersion
      switch try? SessionProxy(proxy) {
      case nil, .system: break
      case SessionProxy.none?:
        session.proxyConfigurations = []
        // Without a dictionary, the system's settings would apply.
        session.connectionProxyDictionary = [
          "HTTPEnable": 0, "HTTPSEnable": 0, "SOCKSEnable": 0, "ProxyAutoConfigEnable": 0,
          "ProxyAutoDiscoveryEnable": 0,
        ]
      case .server(let server):
        session.connectionProxyDictionary = nil
        session.proxyConfigurations = [server.configuration(minimumVersion)]
      }
    }

    private var minimumVersion: tls_protocol_version_t {
      switch tls.minVersion.kind {
      case .v1_2: .TLSv12
      case .v1_3: .TLSv13
      }
    }
  }

  extension SessionProxy.Server {
    /// Returns the proxy of the Network framework. Requests fail if it can't be reached.
    fileprivate func configuration(_ minimumVersion: tls_protocol_version_t) -> ProxyConfiguration {
      let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: NWEndpoint.Port(integerLiteral: port))
      var configuration: ProxyConfiguration
      switch kind {
      case .http: configuration = ProxyConfiguration(httpCONNECTProxy: endpoint)
      case .https:
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, minimumVersion)
        configuration = ProxyConfiguration(httpCONNECTProxy: endpoint, tlsOptions: options)
      case .socks: configuration = ProxyConfiguration(socksv5Proxy: endpoint)
      }
      configuration.allowFailover = false
      configuration.excludedDomains = excludedDomains
      if let user { configuration.applyCredential(username: user, password: password ?? "") }
      return configuration
    }
  }
#endif
