import PortableFoundation

/// The settings of TLS. Certificates and host names are always verified.
///
/// `trust` and `minVersion` also apply to an `https` proxy; `identity` and `pins` apply to servers only. If the
/// transport's TLS library does not support a setting, requests fail with `tls` before anything is sent. With a setting
/// that `URLSession` does not support, they fail with `invalidRequest`.
public struct TLSOptions: Sendable, Hashable {
  /// The certificate authorities (CAs) to trust.
  public struct Trust: Sendable, Hashable {
    enum Kind: Hashable {
      case system
      case file(URL)
      case pem(Data)
    }

    let kind: Kind

    /// The CAs of the system.
    public static let system = Trust(kind: .system)
    /// The CAs in a file of PEM certificates, instead of the system's.
    public static func pem(file: URL) -> Trust { Trust(kind: .file(file)) }
    /// The CAs in PEM certificates in memory, instead of the system's. `CurlTransport` requires libcurl 7.77 or later.
    public static func pem(_ certificates: Data) -> Trust { Trust(kind: .pem(certificates)) }
  }

  /// The client certificate for servers that require one.
  public struct Identity: Sendable, Hashable {
    enum Kind: Hashable {
      case pem(certificate: URL, key: URL, password: String?)
      case pkcs12(Data, password: String)
    }

    let kind: Kind

    /// Creates an identity from files in PEM format, for `CurlTransport`. Intermediate certificates follow the
    /// client's, and the key may be in the same file.
    public init(certificate: URL, key: URL, password: String? = nil) {
      kind = .pem(certificate: certificate, key: key, password: password)
    }

    /// Creates an identity from PKCS#12 data (RFC 7292), the content of a `.p12` file, for `URLSessionTransport` on
    /// Apple platforms. The data contains the certificate, its intermediate certificates and the private key.
    public static func pkcs12(_ data: Data, password: String) -> Identity {
      Identity(kind: .pkcs12(data, password: password))
    }

    private init(kind: Kind) { self.kind = kind }
  }

  /// A version of TLS.
  public struct Version: Sendable, Hashable {
    enum Kind { case v1_2, v1_3 }

    let kind: Kind

    /// TLS 1.2 (RFC 5246).
    public static let v1_2 = Version(kind: .v1_2)
    /// TLS 1.3 (RFC 8446).
    public static let v1_3 = Version(kind: .v1_3)
  }

  /// The CAs to trust.
  public var trust: Trust
  /// The client certificate; `nil` for none.
  public var identity: Identity?
  /// The pinned public keys by host. The server's certificate must have one of the keys of its host. A host is a
  /// case-insensitive name or an IP address, and does not include its subdomains. Always add a backup key: if the only
  /// key is lost, the app can no longer connect.
  ///
  /// `URLSessionTransport` also accepts the key of a CA in the server's verified chain. `CurlTransport` compares only
  /// the key of the server's own certificate.
  public var pins: [String: [PublicKeyPin]]
  /// The minimum version; 1.0 and 1.1 are deprecated (RFC 8996).
  public var minVersion: Version

  /// Creates TLS settings. See the properties for the defaults.
  public init(
    trust: Trust = .system, identity: Identity? = nil, pins: [String: [PublicKeyPin]] = [:],
    minVersion: Version = .v1_2
  ) {
    self.trust = trust
    self.identity = identity
    self.pins = pins
    self.minVersion = minVersion
  }
}

extension TLSOptions.Identity: CustomStringConvertible, CustomReflectable {
  /// The paths of the files or the size of the data, without the password.
  public var description: String {
    switch kind {
    case .pem(let certificate, let key, let password):
      "Identity(\(certificate.path), \(key.path)\(password == nil ? "" : ", ***"))"
    case .pkcs12(let data, _): "Identity(\(data.count) bytes of PKCS#12, ***)"
    }
  }
  /// A mirror without the password and the key.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension TLSOptions {
  /// The pins by normalized host. A pin under a different spelling of its host would have no effect.
  var pinsByHost: [String: [PublicKeyPin]] {
    Dictionary(pins.map { (HostSpelling.normalized($0.key) ?? $0.key, $0.value) }, uniquingKeysWith: +)
  }

  var failure: NetworkError? {
    func invalid(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
    func isReadable(_ file: URL) -> Bool { FileManager.default.isReadableFile(atPath: file.path) }
    if case .file(let file) = trust.kind, !isReadable(file) {
      return invalid("the CA file \(file.path) can't be read; set an existing PEM file in TLSOptions.trust")
    }
    if case .pem(let certificate, let key, _) = identity?.kind,
      let file = [certificate, key].first(where: { !isReadable($0) })
    {
      return invalid("the file \(file.path) of TLSOptions.identity can't be read; set an existing PEM file")
    }
    for (host, pins) in pins {
      guard HostSpelling.normalized(host) != nil else {
        return invalid("TLSOptions.pins: \(host.debugDescription) is not a valid host; use one such as api.example.com")
      }
      // An empty list would accept every key.
      guard !pins.isEmpty else {
        return invalid("TLSOptions.pins has no pin for \(host); remove the host to trust its CA")
      }
    }
    return nil
  }
}
