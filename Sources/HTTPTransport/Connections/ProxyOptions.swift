import PortableFoundation

/// The proxy between the client and the servers.
public struct ProxyOptions: Sendable, Hashable {
  enum Kind: Hashable {
    case none
    case url(URL, except: [String])
    case environment
  }

  let kind: Kind

  /// No proxy, regardless of the environment.
  public static let none = ProxyOptions(kind: .none)
  /// A proxy with an `http`, `https`, `socks5` or `socks5h` URL, which includes the user and password if the proxy
  /// requires them. It is not used for the hosts and domains of `except`. An entry is a host, a domain with its subdomains,
  /// or an IP address without brackets: no port, and no `*` inside a name.
  ///
  /// A rejection by the proxy itself, such as status 407, is a response if the URL is `http`, and an error of kind
  /// `connection` if it is `https`.
  public static func url(_ url: URL, except hosts: [String] = []) -> ProxyOptions {
    ProxyOptions(kind: .url(url, except: hosts))
  }
  /// The proxy of the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, whose
  /// entries have the form of `except`. The variables may also name a SOCKS 4 proxy, and the scheme may be missing.
  ///
  /// A variable that is not a valid proxy URL is an error of kind `invalidRequest`, which names the variable only.
  public static let environment = ProxyOptions(kind: .environment)
}

extension ProxyOptions: CustomStringConvertible, CustomReflectable {
  /// The kind of the proxy, and the URL without its user and password.
  public var description: String {
    switch kind {
    case .none: "none"
    case .url(let url, except: let hosts): "url(\(Self.shown(url)), except: \(hosts))"
    case .environment: "environment"
    }
  }
  /// A mirror without secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns the URL without its user and password. Without a scheme, as in `user:password@host`, nothing of it is
  /// shown.
  static func shown(_ url: URL) -> String {
    url.host == nil ? Redaction.standard.placeholder : Redaction.standard.redacted(url)
  }
}
