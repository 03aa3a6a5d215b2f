#if canImport(CLibcurl)
  import PortableFoundation

  /// The proxy of a request, as libcurl and errors need it.
  struct ProxyRoute: Equatable {
    /// The URL, with a port.
    let url: String
    /// The setting that names the proxy, for errors.
    let setting: String

    /// Creates the route of the text of a valid URL. Without a port, libcurl would use 1080 even for `http`.
    init(_ text: String, setting: String) {
      let scheme = text.firstRange(of: "://")
      let name = scheme.map { text[..<$0.lowerBound].lowercased() } ?? "http"
      let start = scheme?.upperBound ?? text.startIndex
      let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
      let host = text[start..<end].lastIndex(of: "@").map { text.index(after: $0) } ?? start
      var authority = text[host..<end]
      if authority.last == ":" { authority = authority.dropLast() }
      let hasPort = authority.drop { $0 != "]" }.contains(":") || !authority.hasPrefix("[") && authority.contains(":")
      place = hasPort ? String(authority) : "\(authority):\(Self.ports[name] ?? 1080)"
      url = "\(text[..<host])\(place)\(text[end...])"
      (self.setting, isSOCKS, isSecure) = (setting, name.hasPrefix("socks"), name == "https")
    }

    /// The host and port.
    let place: String
    let isSOCKS: Bool
    /// Whether the connection to the proxy uses TLS.
    let isSecure: Bool

    static let ports = ["http": 80, "https": 443, "socks5": 1080, "socks5h": 1080]
  }

  extension ProxyOptions {
    var failure: NetworkError? {
      switch kind {
      case .none: return nil
      case .url(let url, _):
        guard ProxyRoute.ports[url.scheme?.lowercased() ?? ""] != nil, url.host?.isEmpty == false else {
          return NetworkError(
            kind: .invalidRequest,
            reason: "the proxy URL \(Self.shown(url)) is not valid; use the scheme http, https, socks5 or "
              + "socks5h, and a host"
          )
        }
        return Self.failure(of: url.absoluteString, in: Self.setting)
      case .environment: return Self.failure(of: ProcessInfo.processInfo.environment)
      }
    }

    private static let setting = "Configuration.proxy"

    /// Returns the proxy of requests with `https` or `http`, before exceptions. The environment is read again, because a
    /// program may change it.
    ///
    /// - Throws: The error of a variable that is not valid.
    func route(isSecure: Bool) throws(NetworkError) -> ProxyRoute? {
      switch kind {
      case .none: return nil
      case .url(let url, _): return ProxyRoute(url.absoluteString, setting: Self.setting)
      case .environment:
        for name in Self.variables(isSecure: isSecure) {
          guard let value = Self.variable(name) else { continue }
          if let failure = Self.failure(of: value, in: "the variable \(name)") { throw failure }
          return ProxyRoute(value, setting: "the variable \(name)")
        }
        return nil
      }
    }

    /// Returns whether an exception applies to `host`, as libcurl compares them.
    func bypasses(_ host: String) -> Bool {
      let entries: [String]
      switch kind {
      case .none: return true
      case .url(_, except: let hosts): entries = hosts
      case .environment:
        let list = Self.variable("no_proxy") ?? Self.variable("NO_PROXY") ?? ""
        entries = list.split { ", ".contains($0) }.map(String.init)
      }
      let host = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
      return entries.contains { entry in
        let entry = entry.trimming { $0 == "." || $0 == " " || $0 == "[" || $0 == "]" }.lowercased()
        return entry == "*" || host == entry || host.hasSuffix("." + entry) || Self.isAddress(host, in: entry)
      }
    }

    /// Returns the value of a variable of the environment; `nil` for none or an empty one.
    private static func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns whether `host` is an address of the block `block`, such as `10.0.0.0/8`.
    private static func isAddress(_ host: String, in block: String) -> Bool {
      let parts = block.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let bits = Int(digits: parts[1]), let address = bytes(host), let base = bytes(parts[0]),
        address.count == base.count, bits <= 8 * base.count
      else { return false }
      return (0..<bits).allSatisfy { bit in
        let mask = UInt8(0x80) >> UInt8(bit % 8)
        return address[bit / 8] & mask == base[bit / 8] & mask
      }
    }

    private static func bytes(_ address: String) -> [UInt8]? {
      var (four, six) = (in_addr(), in6_addr())
      if inet_pton(AF_INET, address, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
      return inet_pton(AF_INET6, address, &six) == 1 ? withUnsafeBytes(of: six, Array.init) : nil
    }
  }
#endif
