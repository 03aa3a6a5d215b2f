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
    /// HTTP/2 where the server offers it over TLS, else HTTP/1.1.
    case automatic
    /// HTTP/1.1, for servers whose HTTP/2 is faulty.
    case http1
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
