/// An address that replaces the host of a URL.
///
/// Everything else still follows the URL: the `Host` field, the name in the server's certificate, pins, cookies and
/// connection limits.
public struct AddressOverride: Sendable, Hashable {
  enum Kind: Hashable {
    case host(String, port: Int?)
    case unixSocket(path: String)
  }

  let kind: Kind

  /// A host name or an IP address, and a port from 1 to 65535; `nil` for the port of the URL.
  ///
  /// If an HTTP proxy is set, the transport requests a tunnel to this address from it.
  public static func host(_ host: String, port: Int? = nil) -> AddressOverride {
    AddressOverride(kind: .host(host, port: port))
  }
  /// The path of a Unix domain socket, of at most 107 bytes.
  ///
  /// The connection bypasses proxies and name lookup, and uses TLS if the URL is `https`. The limit
  /// `maxRequestsPerConnection` is enforced while there is a single connection to the path. A redirect from another origin to this host
  /// fails with `redirect`.
  public static func unixSocket(path: String) -> AddressOverride { AddressOverride(kind: .unixSocket(path: path)) }
}
