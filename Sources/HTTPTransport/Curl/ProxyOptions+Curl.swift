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

    /// The error of an invalid proxy, or `nil`.
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
