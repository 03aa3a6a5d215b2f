import PortableFoundation

extension Request {
  /// What a request may ask of its transport beside the exchange itself; a back end has one for all its requests.
  public struct Options: Sendable {
    /// Which redirects are followed.
    public var redirects: RedirectPolicy
    /// Who goes first where requests wait for a connection; in the order sent within one priority.
    public var priority: Priority
    /// The most bytes the answer's body may have, content coding removed, wherever it goes; more fails with `tooLarge`.
    ///
    /// `nil` is the transport's own limit where the body is kept in memory, and none where it is streamed or goes to a
    /// file.
    public var maxBodySize: Int?
    /// Keeps cookies between the requests that share it; `nil` for none.
    public var cookies: CookieJar?
    /// Header fields that no redirect takes to another origin, beside those of `Redaction.standard`; the network adds the
    /// back end's `redaction`.
    public var secrets: Redaction
    /// The version of HTTP that is spoken; `URLSessionTransport` can't choose one and refuses others than `automatic`.
    public var httpVersion: HTTPVersion

    /// The defaults that the properties describe, changed where arguments say so.
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
    /// If the libcurl found has HTTP/3, `CurlTransport` keeps in memory which origins offer it at their own host and port
    /// (`Alt-Svc`, RFC 7838), for as long as they say. It then opens new connections to them with HTTP/3, and with the other
    /// versions if that does not succeed. Through a proxy, HTTP/3 is not used.
    case automatic
    /// HTTP/1.1, for servers whose HTTP/2 is faulty.
    case http1
    /// HTTP/2 from the first byte if the URL is `http` (prior knowledge, RFC 9113 §3.3), for servers that are known to speak
    /// it: nothing is negotiated, and a server of HTTP/1.1 fails the request. The same as `automatic` if the URL is `https`.
    ///
    /// Needs libcurl 7.80 with HTTP/2; without it, the request fails with `invalidRequest` before anything is sent. An HTTP proxy
    /// is asked for a tunnel. libcurl 7.88 opens a connection for each of these requests; other versions share one.
    case http2PriorKnowledge
    /// HTTP/3 (RFC 9114) alone: a server that does not speak it fails the request.
    ///
    /// Needs an `https` URL, no proxy, and a libcurl from 8.5 on with HTTP/3 (`CurlTransport.Capabilities.http3`). Otherwise the
    /// request fails with `invalidRequest` before anything is sent.
    case http3
  }

  /// Who goes first where requests wait for a connection.
  public enum Priority: Int, Sendable, Comparable, CaseIterable {
    /// When nothing else waits: prefetching.
    case low
    /// The rest.
    case normal
    /// Before all others: what a user waits for.
    case high

    /// Compares by urgency.
    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// What is asked of the transport beside the exchange itself.
  public var options: Options {
    get { chosenOptions?.value ?? Self.defaultOptions }
    set { chosenOptions = OptionsBox(newValue) }
  }

  private static let defaultOptions = Options()

  /// Shared by all requests of a back end: most ask for nothing, and copying a request must stay cheap.
  package final class OptionsBox: Sendable {
    package let value: Options

    package init(_ value: Options) { self.value = value }
  }
}
