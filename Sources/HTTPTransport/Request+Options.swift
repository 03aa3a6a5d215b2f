import PortableFoundation

extension Request {
  /// Options for the transport. A backend has one value for all its requests.
  public struct Options: Sendable {
    /// The policy for redirects.
    public var redirects: RedirectPolicy
    /// The priority among requests that wait for a connection. Requests of equal priority keep their order.
    public var priority: Priority
    /// The maximum number of bytes in the response's body, after its content coding is removed. A larger body fails
    /// with `tooLarge`.
    ///
    /// With `nil`, the transport's limit applies to bodies in memory, and no limit to streamed bodies and files.
    public var maxBodySize: Int?
    /// The jar that stores cookies for all requests that share it; `nil` disables cookies.
    public var cookies: CookieJar?
    /// The header fields that no redirect to another origin may carry, in addition to those of `Redaction.standard`.
    /// The network adds the backend's `redaction`.
    public var secrets: Redaction
    /// The HTTP version. `URLSessionTransport` supports only `automatic` and fails requests with any other value.
    public var httpVersion: HTTPVersion

    /// Creates options. The documentation of the properties explains the defaults.
    public init(
      redirects: RedirectPolicy = .follow(), priority: Priority = .normal, maxBodySize: Int? = nil,
      cookies: CookieJar? = nil, secrets: Redaction = .standard, httpVersion: HTTPVersion = .automatic
    ) {
      self.redirects = redirects
      self.priority = priority
      self.maxBodySize = maxBodySize
      self.cookies = cookies
      self.secrets = secrets
      self.httpVersion = httpVersion
    }
  }

  /// The version of HTTP that a request is sent with.
  public enum HTTPVersion: Sendable, Hashable {
    /// HTTP/2 if the server offers it over TLS, else HTTP/1.1.
    ///
    /// If libcurl supports HTTP/3, `CurlTransport` remembers in memory which origins offer it at their own host and
    /// port, for the time that they announce (`Alt-Svc`, RFC 7838). It then opens new connections to them with HTTP/3,
    /// and falls back to the other versions. Connections through a proxy never use HTTP/3.
    case automatic
    /// HTTP/1.1, for servers whose HTTP/2 is faulty.
    case http1
    /// HTTP/2 from the first byte if the URL is `http` (prior knowledge, RFC 9113 §3.3), for servers that are known to
    /// support it. The version is not negotiated, and a server that supports only HTTP/1.1 fails the request. Equal to
    /// `automatic` if the URL is `https`.
    ///
    /// Needs libcurl 7.80 with HTTP/2; otherwise the request fails with `invalidRequest` before anything is sent. The
    /// transport asks an HTTP proxy for a tunnel. libcurl 7.88 opens a connection for each of these requests; other
    /// versions share one.
    case http2PriorKnowledge
    /// HTTP/3 (RFC 9114) only: a server that does not support it fails the request.
    ///
    /// Needs an `https` URL, no proxy, and libcurl 8.5 or later with HTTP/3 (`CurlTransport.Capabilities.http3`).
    /// Otherwise the request fails with `invalidRequest` before anything is sent.
    case http3
  }

  /// The priority of a request among those that wait for a connection.
  public enum Priority: Int, Sendable, Comparable, CaseIterable {
    /// Runs after all others, for example a prefetch.
    case low
    /// The default.
    case normal
    /// Runs before all others, for example a request that the user waits for.
    case high

    /// Compares by urgency.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// Options for the transport.
  public var options: Options {
    get { chosenOptions?.value ?? Self.defaultOptions }
    set { chosenOptions = OptionsBox(newValue) }
  }

  private static let defaultOptions = Options()

  /// The options in a box that all requests of a backend share. Most have none, and copying a request must stay cheap.
  package final class OptionsBox: Sendable {
    package let value: Options

    package init(_ value: Options) { self.value = value }
  }
}
