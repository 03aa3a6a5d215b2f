#if canImport(CLibcurl)
  import PortableFoundation

  extension CurlTransport {
    /// The settings of TLS. Certificates and host names are always verified. `trust` and `minimumVersion` also apply to
    /// an `https` proxy; `identity` and `pins` apply to servers only. If libcurl does not support a setting (some TLS
    /// libraries lack pins), requests fail with `tls` before anything is sent.
    public struct TLS: Sendable {
      /// The certificate authorities (CAs) to trust.
      public enum Trust: Sendable {
        /// The CAs of the system.
        case system
        /// The CAs in a file of PEM certificates, instead of the system's.
        case file(URL)
        /// The CAs in PEM certificates in memory, instead of the system's. Requires libcurl 7.77 or later.
        case pem(Data)
      }

      /// The client certificate for servers that require one: files in PEM format.
      public struct Identity: Sendable {
        /// The certificate, and the intermediate certificates up to its CA.
        public var certificate: URL
        /// The private key, which may be in the same file.
        public var key: URL
        /// The password of an encrypted key; otherwise `nil`.
        public var password: String?

        /// Creates an identity from its files.
        public init(certificate: URL, key: URL, password: String? = nil) {
          self.certificate = certificate
          self.key = key
          self.password = password
        }
      }

      /// A version of TLS.
      public enum Version: Sendable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
      }

      /// The CAs to trust.
      public var trust: Trust
      /// The client certificate; `nil` for none.
      public var identity: Identity?
      /// The pinned public keys by host. The server's certificate must have one of the keys of its host. A host is a
      /// case-insensitive name or an IP address. A key is `sha256//` followed by the base64 of its hash (RFC 7469
      /// §2.4). Always add a backup key: if the only key is lost, the app can no longer connect.
      public var pins: [String: [String]]
      /// The minimum version; 1.0 and 1.1 are deprecated (RFC 8996).
      public var minimumVersion: Version

      /// Creates TLS settings. See the properties for the defaults.
      public init(
        trust: Trust = .system, identity: Identity? = nil, pins: [String: [String]] = [:],
        minimumVersion: Version = .v1_2
      ) {
        self.trust = trust
        self.identity = identity
        self.pins = pins
        self.minimumVersion = minimumVersion
      }
    }
  }

  extension CurlTransport.TLS.Identity: CustomStringConvertible, CustomReflectable {
    /// The paths of the files, without the password.
    public var description: String { "Identity(\(certificate.path), \(key.path)\(password == nil ? "" : ", ***"))" }
    /// A mirror without the password.
    public var customMirror: Mirror {
      Mirror(
        self,
        children: ["certificate": certificate, "key": key, "password": password.map { _ in "***" } as Any])
    }
  }

  extension CurlTransport.TLS {
    /// The pins by normalized host. A pin under a different spelling of its host would have no effect.
    var pinsByHost: [String: [String]] {
      Dictionary(pins.map { (Self.plainHost($0.key) ?? $0.key, $0.value) }, uniquingKeysWith: +)
    }

    /// Returns the host of `url` as a key of `pinsByHost`.
    static func pinnedHost(_ url: URL) -> String? { url.plainHost.map(oneSpelling) }

    /// Normalizes an address, because the resolver accepts many spellings: `127.1`, `0x7f.1` and `2130706433` of IPv4,
    /// `0::1` and `::1%lo` of IPv6. The mapped address `::ffff:127.0.0.1` is the IPv4 address.
    private static func oneSpelling(_ host: String) -> String {
      var four = in_addr()
      if host.utf8.first.map({ (0x30...0x39).contains($0) }) == true, inet_aton(host, &four) != 0 {
        return withUnsafeBytes(of: four, dotted)
      }
      var six = in6_addr()
      guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &six) == 1 else { return host }
      return withUnsafeBytes(of: six) { bytes in
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped { return dotted(UnsafeRawBufferPointer(rebasing: bytes[12...])) }
        return stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
          .joined(separator: ":")
      }
    }

    private static func dotted(_ bytes: UnsafeRawBufferPointer) -> String {
      bytes.map(String.init).joined(separator: ".")
    }

    /// Returns the normalized host; `nil` if `host` is not just a host.
    static func plainHost(_ host: String) -> String? {
      guard !host.contains(where: { "/*@?#% ".contains($0) }) else { return nil }
      let lacksBrackets = !host.hasPrefix("[") && host.utf8.filter { $0 == 0x3a }.count > 1
      guard let url = URL(string: "https://\(lacksBrackets ? "[\(host)]" : host)/"), url.port == nil else { return nil }
      return pinnedHost(url).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The error of invalid settings, or `nil`.
    var failure: NetworkError? {
      func invalid(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
      func isReadable(_ file: URL) -> Bool { FileManager.default.isReadableFile(atPath: file.path) }
      switch trust {
      case .file(let file) where !isReadable(file):
        return invalid("the CA file \(file.path) can't be read; set an existing PEM file in TLS.trust")
      case .pem where !CurlLibrary.isAtLeast(0x07_4d00):
        return invalid("in-memory certificates require libcurl 7.77 or later; set a file in TLS.trust")
      default: break
      }
      if let identity, let file = [identity.certificate, identity.key].first(where: { !isReadable($0) }) {
        return invalid("the file \(file.path) of TLS.identity can't be read; set an existing PEM file")
      }
      for (host, pins) in pins {
        guard Self.plainHost(host) != nil else {
          return invalid("TLS.pins: \(host.debugDescription) is not a valid host; use one such as api.example.com")
        }
        // An empty list would accept every key.
        guard !pins.isEmpty else {
          return invalid("TLS.pins has no pin for \(host); remove the host to trust its CA")
        }
        for pin in pins where Data(base64Encoded: String(pin.dropFirst(8)))?.count != 32 || !pin.hasPrefix("sha256//") {
          return invalid(
            "the pin \(pin.debugDescription) of \(host) is not valid; use sha256// followed by the base64 of 32 bytes")
        }
      }
      return nil
    }
  }
#endif
