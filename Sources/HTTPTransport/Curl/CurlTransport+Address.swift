#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlTransport: SocketTransport {
    package func isUnixSocket(_ url: URL) -> Bool { loop.configuration.directory.isUnixSocket(url) }
  }

  extension CurlTransport.Configuration {
    /// The addresses by host, and by host and port; the latter take precedence.
    struct Directory {
      private var addresses: [String: AddressOverride] = [:]

      var isEmpty: Bool { addresses.isEmpty }

      init() {}

      /// Creates a directory from `Configuration.addresses`.
      ///
      /// - Throws: `NetworkError` of kind `invalidRequest` that names the invalid host or address.
      init(_ addresses: [String: AddressOverride]) throws(NetworkError) {
        for (place, address) in addresses {
          guard let key = Self.key(place) else {
            throw Self.failure(
              "the host \(place.debugDescription) is not valid; use a host and an optional port, such as api.example.com:8443"
            )
          }
          if let problem = Self.problem(of: address) { throw Self.failure("the address of \(place) \(problem)") }
          guard self.addresses.updateValue(address, forKey: key) == nil else {
            throw Self.failure("the host \(place) occurs twice, in two spellings; remove one")
          }
        }
      }

      func address(of url: URL) -> AddressOverride? {
        guard !isEmpty, let host = HostSpelling.host(of: url) else { return nil }
        return addresses[Self.key(host, url.portInUse)] ?? addresses[host]
      }

      /// Returns the error of a request whose URL another origin has sent, and that would reach a Unix domain socket.
      func failure(of request: Request) -> NetworkError? {
        guard !isEmpty, request.isForeign, isUnixSocket(request.url) else { return nil }
        return NetworkError(
          kind: .redirect,
          reason:
            "a link of another origin leads to \(request.url.hostAndPort), for which Configuration.addresses has a "
            + "Unix domain socket; only requests of the caller are sent to it", request: request)
      }

      func isUnixSocket(_ url: URL) -> Bool {
        if case .unixSocket = address(of: url)?.kind { true } else { false }
      }

      private static func failure(_ reason: String) -> NetworkError {
        NetworkError(kind: .invalidRequest, reason: "Configuration.addresses: \(reason)")
      }

      private static func key(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
      }

      private static func key(_ place: String) -> String? {
        if let host = HostSpelling.normalized(place) { return host }
        guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
          (1...65535).contains(port), let host = HostSpelling.normalized(String(place[..<colon]))
        else { return nil }
        return key(host, port)
      }

      private static func problem(of address: AddressOverride) -> String? {
        switch address.kind {
        case .host(let host, let port):
          if HostSpelling.normalized(host) == nil {
            return "is \(host.debugDescription), which is not a valid host; use a name or an IP address without a port"
          }
          return port.flatMap { (1...65535).contains($0) ? nil : "has the port \($0); use one from 1 to 65535" }
        case .unixSocket(let path):
          // sun_path has 108 bytes (unix(7)), including the terminating NUL.
          guard path.isEmpty || path.utf8.count > 107 || path.utf8.contains(0) else { return nil }
          return
            "is the path \(path.debugDescription) of \(path.utf8.count) bytes; use one of 1 to 107 bytes without NUL"
        }
      }
    }
  }

  extension AddressOverride {
    var text: String {
      switch kind {
      case .host(let host, let port): port.map { CurlHandle.hostAndPort(host, $0) } ?? host
      case .unixSocket(let path): path
      }
    }
  }

  extension CurlHandle {
    /// Sets the address that the configuration has for the URL, if it has any.
    func redirectConnection(of url: URL) {
      guard let address = configuration.directory.address(of: url) else { return }
      attempt.address = address
      settings.needsReset = true
      switch address.kind {
      case .host(let host, let port):
        // The empty host and port match any URL.
        let text = "::\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port.map(String.init) ?? "")"
        let list = CurlLine(text)
        require("Configuration.addresses", set(CURLOPT_CONNECT_TO, list.node), .invalidRequest)
        settings.addressLine = list
      case .unixSocket(let path):
        require("Configuration.addresses", set(CURLOPT_UNIX_SOCKET_PATH, path), .invalidRequest)
        // libcurl ignores a proxy in this case. Disable it anyway.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
      }
    }
  }

  /// A list with one line as libcurl reads it. libcurl keeps the pointer.
  final class CurlLine {
    let node = UnsafeMutablePointer<ccurl_slist>.allocate(capacity: 1)

    init(_ text: String) { node.initialize(to: ccurl_slist(data: strdup(text), next: nil)) }

    deinit {
      free(node.pointee.data)
      node.deallocate()
    }
  }
#endif
