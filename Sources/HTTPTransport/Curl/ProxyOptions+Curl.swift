#if canImport(CLibcurl)
  import PortableFoundation

  extension ProxyOptions {
    private static let ports = ["http": 80, "https": 443, "socks5": 1080, "socks5h": 1080]

    /// Returns the URL with its port. Without a port, libcurl would use 1080 even for `http`.
    static func withPort(_ url: URL) -> String {
      guard url.port == nil, let port = ports[url.scheme?.lowercased() ?? ""],
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      else { return url.absoluteString }
      parts.port = port
      return parts.string ?? url.absoluteString
    }

    var failure: NetworkError? {
      switch kind {
      case .none: return nil
      case .url(let url, _):
        guard Self.ports[url.scheme?.lowercased() ?? ""] != nil, url.host?.isEmpty == false else {
          return NetworkError(
            kind: .invalidRequest,
            reason: "the proxy URL \(Self.shown(url)) is not valid; use the scheme http, https, socks5 or "
              + "socks5h, and a host"
          )
        }
        return Self.failure(of: url.absoluteString, in: "Configuration.proxy")
      case .environment: return Self.failure(of: ProcessInfo.processInfo.environment)
      }
    }
  }
#endif
