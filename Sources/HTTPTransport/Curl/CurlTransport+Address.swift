#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  extension CurlTransport {
    /// An address that takes the place of a URL's host (`Configuration.addresses`).
    ///
    /// Everything else stays the URL's: the `Host` field, the name that the server's certificate must have, pins, cookies and
    /// the limits of connections.
    public enum Address: Sendable, Hashable {
      /// A host name or an IP address, and a port from 1 to 65535; `nil` for the port of the URL.
      ///
      /// An HTTP proxy, if one is set, is asked for a tunnel to this address.
      case host(String, port: Int? = nil)
      /// The file of a Unix domain socket, with a path of at most 107 bytes.
      ///
      /// No proxy is used, and no name is resolved. TLS is spoken if the URL is `https`.
      /// `Configuration.maxRequestsPerConnection` counts while there is one connection to the file.
      case unixSocket(path: String)
    }
  }

  extension CurlTransport.Configuration {
    /// The addresses by host, and by host and port; the latter take precedence.
    struct Directory {
      private var addresses: [String: CurlTransport.Address] = [:]

      var isEmpty: Bool { addresses.isEmpty }

      init() {}

      /// Reads `Configuration.addresses`.
      ///
      /// - Throws: `NetworkError` of kind `invalidRequest` that names the host or the address that is not valid.
      init(_ addresses: [String: CurlTransport.Address]) throws(NetworkError) {
        for (place, address) in addresses {
          guard let key = Self.key(place) else {
            throw Self.failure(
              "the host \(place.debugDescription) is not valid; give a host alone or with a port, such as api.example.com:8443"
            )
          }
          if let problem = Self.problem(of: address) { throw Self.failure("the address of \(place) \(problem)") }
          guard self.addresses.updateValue(address, forKey: key) == nil else {
            throw Self.failure("the host \(place) stands there twice, in two spellings; remove one")
          }
        }
      }

      func address(of url: URL) -> CurlTransport.Address? {
        guard !isEmpty, let host = CurlTransport.TLS.pinnedHost(url) else { return nil }
        return addresses[Self.key(host, url.portInUse)] ?? addresses[host]
      }

      private static func failure(_ reason: String) -> NetworkError {
        NetworkError(kind: .invalidRequest, reason: "Configuration.addresses: \(reason)")
      }

      private static func key(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
      }

      private static func key(_ place: String) -> String? {
        if let host = CurlTransport.TLS.plainHost(place) { return host }
        guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
          (1...65535).contains(port), let host = CurlTransport.TLS.plainHost(String(place[..<colon]))
        else { return nil }
        return key(host, port)
      }

      private static func problem(of address: CurlTransport.Address) -> String? {
        switch address {
        case .host(let host, let port):
          if CurlTransport.TLS.plainHost(host) == nil {
            return "is \(host.debugDescription), which is not a valid host; give a name or an IP address alone"
          }
          return port.flatMap { (1...65535).contains($0) ? nil : "has the port \($0); give one from 1 to 65535" }
        case .unixSocket(let path):
          // sun_path has room for 108 bytes (unix(7)), the last of which is 0.
          guard path.isEmpty || path.utf8.count > 107 || path.utf8.contains(0) else { return nil }
          return
            "is the path \(path.debugDescription) of \(path.utf8.count) bytes; give one of 1 to 107 bytes without NUL"
        }
      }
    }
  }

  extension CurlTransport.Address {
    /// As errors name it.
    var text: String {
      switch self {
      case .host(let host, let port): port.map { CurlHandle.place(host, $0) } ?? host
      case .unixSocket(let path): path
      }
    }
  }

  extension CurlHandle {
    /// Has libcurl connect to the address that the configuration has for the URL; `false` if it has none.
    func redirectConnection(of url: URL) -> Bool {
      address = configuration.directory.address(of: url)
      guard let address else { return false }
      needsReset = true
      switch address {
      case .host(let host, let port):
        // Any host and port, which are the URL's.
        let text = "::\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port.map(String.init) ?? "")"
        let list = CurlLine(text)
        demand("Configuration.addresses", set(CCURL_CONNECT_TO, list.node), .invalidRequest)
        addressLine = list
      case .unixSocket(let path):
        demand("Configuration.addresses", set(CCURL_UNIX_SOCKET_PATH, path), .invalidRequest)
        // libcurl ignores a proxy then; this does not depend on it.
        set(CCURL_PROXY, "")
        set(CCURL_NOPROXY, "*")
      }
      return true
    }
  }

  /// A list of one line in the form libcurl reads, which keeps the pointer.
  final class CurlLine {
    let node = UnsafeMutablePointer<ccurl_slist>.allocate(capacity: 1)

    init(_ text: String) { node.initialize(to: ccurl_slist(data: strdup(text), next: nil)) }

    deinit {
      free(node.pointee.data)
      node.deallocate()
    }
  }
#endif
