#if canImport(CLibcurl)
  import PortableFoundation

  extension CurlTransport {
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

  extension CurlTransport.Proxy: CustomStringConvertible, CustomReflectable {
    /// The name of the case, and the URL without its user and password.
    public var description: String {
      switch self {
      case .none: "none"
      case .url(let url, except: let hosts): "url(\(Self.shown(url)), except: \(hosts))"
      case .environment: "environment"
      }
    }
    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  extension CurlTransport.Proxy {
    private static let ports = ["http": 80, "https": 443, "socks5": 1080, "socks5h": 1080]

    /// Returns the URL with its port. Without a port, libcurl would use 1080 even for `http`.
    static func withPort(_ url: URL) -> String {
      guard url.port == nil, let port = ports[url.scheme?.lowercased() ?? ""],
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
      else { return url.absoluteString }
      parts.port = port
      return parts.string ?? url.absoluteString
    }

    /// Returns the URL without its user and password. Without a scheme, as in `user:password@host`, nothing of it is
    /// shown.
    private static func shown(_ url: URL) -> String {
      url.host == nil ? Redaction.standard.placeholder : Redaction.standard.url(url)
    }

    /// The error of an invalid proxy, or `nil`.
    var failure: NetworkError? {
      switch self {
      case .none: return nil
      case .url(let url, _):
        guard Self.ports[url.scheme?.lowercased() ?? ""] != nil, url.host?.isEmpty == false else {
          return NetworkError(
            kind: .invalidRequest,
            reason: "the proxy URL \(Self.shown(url)) is not valid; use the scheme http, https, socks5 or "
              + "socks5h, and a host"
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
            "the user or password of the proxy in \(place) contains the control character "
            + "0x\(String(value, radix: 16)), which would make libcurl bypass the proxy; remove it")
      }
      return nil
    }
  }

  extension Substring {
    fileprivate var nonEmpty: Substring? { isEmpty ? nil : self }
  }
#endif
