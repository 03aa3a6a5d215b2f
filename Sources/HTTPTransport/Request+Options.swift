import PortableFoundation

extension Request {
  /// Options for the transport. A backend has one set of options for all its requests.
  public struct Options: Sendable {
    /// The policy for redirects.
    public var redirects: RedirectPolicy
    /// The priority among requests that wait for a connection. Requests of equal priority keep their order.
    public var priority: Priority
    /// The maximum number of bytes in the response's body, after its content coding is removed. A larger body fails
    /// with `tooLarge`.
    ///
    /// With `nil`, the transport's limit applies to bodies in memory, and no limit applies to streamed bodies and
    /// files.
    public var maxBodySize: Int?
    /// The jar that stores cookies for all requests that share it; `nil` disables cookies.
    public var cookies: CookieJar?
    /// The header fields that no redirect to another origin may carry, in addition to the fields of
    /// `Redaction.standard`. The network adds the backend's `redaction`.
    public var redaction: Redaction
    /// The HTTP version. `URLSessionTransport` supports only `automatic` and fails requests with any other value.
    public var httpVersion: HTTPVersion

    /// Creates options. See the properties for the defaults.
    public init(
      redirects: RedirectPolicy = .follow(), priority: Priority = .normal, maxBodySize: Int? = nil,
      cookies: CookieJar? = nil, redaction: Redaction = .standard, httpVersion: HTTPVersion = .automatic
    ) {
      self.redirects = redirects
      self.priority = priority
      self.maxBodySize = maxBodySize
      self.cookies = cookies
      self.redaction = redaction
      self.httpVersion = httpVersion
    }
  }

  /// The version of HTTP that a request is sent with.
  public struct HTTPVersion: Sendable, Hashable {
    enum Kind { case automatic, http1, http2, http3 }

    let kind: Kind

    /// HTTP/1.1 with `CurlTransport`; the system's choice with `URLSessionTransport`.
    ///
    /// Only over HTTP/1.1, libcurl reports enough to know whether a request was sent and a response is complete. Over
    /// TLS, 64 requests in flight are also faster there.
    public static let automatic = HTTPVersion(kind: .automatic)
    /// HTTP/1.1.
    public static let http1 = HTTPVersion(kind: .http1)
    /// HTTP/2 (RFC 9113): negotiated over TLS, with HTTP/1.1 for a server that does not offer it. For an `http` URL,
    /// HTTP/2 from the first byte (prior knowledge, §3.3); a server that supports only HTTP/1.1 fails the request.
    ///
    /// Requires libcurl 8.14 or later with HTTP/2 (`CurlTransport.Capabilities.http2`); otherwise the request fails with
    /// `invalidRequest` before anything is sent. The transport requests a tunnel from an HTTP proxy.
    ///
    /// libcurl does not report whether a server has processed a request. One that must not be repeated therefore fails if
    /// its connection or stream is lost, or if the server resets it with HTTP_1_1_REQUIRED. One that may be repeated is
    /// sent up to three times, the last time over HTTP/1.1 if the URL is `https`.
    ///
    /// Two exceptions from the promises of HTTP/1.1 remain. A server that aborts a response without a length by
    /// RST_STREAM(NO_ERROR) truncates it unnoticed. A single stream of a connection that ends by a violation may wait for
    /// its idle limit.
    public static let http2 = HTTPVersion(kind: .http2)
    /// HTTP/3 (RFC 9114) only: a server that does not support it fails the request.
    ///
    /// Requires an `https` URL, no proxy, and libcurl 8.5 or later with HTTP/3 (`CurlTransport.Capabilities.http3`).
    /// Otherwise the request fails with `invalidRequest` before anything is sent.
    public static let http3 = HTTPVersion(kind: .http3)
  }

  /// The priority of a request among those that wait for a connection.
  public enum Priority: Int, Sendable, Comparable, CaseIterable {
    /// Runs after all other requests, for example a prefetch.
    case low
    /// The default.
    case normal
    /// Runs before all other requests, for example a request that the user waits for.
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

  /// The options in a box that all requests of a backend share. Most requests have no options, and copying a request
  /// must stay cheap.
  package final class OptionsBox: Sendable {
    package let value: Options

    package init(_ value: Options) { self.value = value }
  }
}
