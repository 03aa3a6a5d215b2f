#if HAS_URLSESSION
  import Foundation

  /// The proxy of a session on Apple platforms, in the terms of the Network framework.
  enum SessionProxy: Equatable {
    case system
    case none
    case server(Server)

    struct Server: Equatable {
      enum Kind { case http, https, socks }

      var kind: Kind
      var host: String
      var port: UInt16
      var user: String?
      var password: String?
      /// The domains, with their subdomains, that the proxy is not used for.
      var excludedDomains: [String] = []
    }

    /// Creates the proxy of `options`; `nil` stands for the system's settings.
    ///
    /// - Throws: `NetworkError` of kind `invalidRequest` if the URL is invalid, or `URLSession` does not support the
    ///   setting.
    init(_ options: ProxyOptions?) throws(NetworkError) {
      switch options?.kind {
      case nil: self = .system
      case ProxyOptions.Kind.none?: self = .none
      case .environment:
        throw Self.error(
          "ProxyOptions.environment is not supported by URLSession, which does not read environment variables on Apple "
            + "platforms; use ProxyOptions.url, or nil for the system's proxy")
      case .url(let url, let hosts): self = .server(try Self.server(url, hosts))
      }
    }

    private static func server(_ url: URL, _ hosts: [String]) throws(NetworkError) -> Server {
      let kinds: [String: (Server.Kind, UInt16)] = [
        "http": (.http, 80), "https": (.https, 443), "socks5h": (.socks, 1080),
      ]
      let scheme = url.scheme?.lowercased() ?? ""
      if scheme == "socks5" {
        throw error(
          "the proxy URL \(ProxyOptions.shown(url)) is not supported by URLSession, with which a SOCKS proxy resolves "
            + "the names; use the scheme socks5h")
      }
      guard let (kind, port) = kinds[scheme], let host = HostSpelling.host(of: url), !host.isEmpty,
        let port = UInt16(exactly: url.port ?? Int(port)), port > 0,
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      else {
        throw error(
          "the proxy URL \(ProxyOptions.shown(url)) is not valid; use the scheme http, https or socks5h, a host, and a "
            + "port from 1 to 65535")
      }
      return Server(
        kind: kind, host: host, port: port, user: parts.user, password: parts.password,
        excludedDomains: try hosts.map(domain))
    }

    /// Returns a domain of `ProxyOptions.url(_:except:)`. The system documents only names of domains.
    private static func domain(_ text: String) throws(NetworkError) -> String {
      let domain = text.hasPrefix(".") ? String(text.dropFirst()) : text
      guard let host = HostSpelling.normalized(domain), !host.contains(":"),
        host.split(separator: ".").last?.isDigits == false
      else {
        throw error(
          "the exception \(text.debugDescription) of ProxyOptions.url is not supported by URLSession; use a domain such "
            + "as example.com")
      }
      return host
    }

    private static func error(_ reason: String) -> NetworkError { NetworkError(kind: .invalidRequest, reason: reason) }
  }
#endif
