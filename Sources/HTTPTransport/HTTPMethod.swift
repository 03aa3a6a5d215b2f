/// The method of an HTTP request (RFC 9110 §9). Extension methods are supported.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The token that is sent; case-sensitive (RFC 9110 §9.1).
  public let rawValue: String

  /// Creates a method from any token. Transports fail a request whose method is not a valid token with
  /// `invalidRequest`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a method from a literal.
  public init(stringLiteral value: String) { rawValue = value }

  /// The name of the method, such as `GET`.
  public var description: String { rawValue }

  /// `GET`: parameters go into the URL.
  public static let get = HTTPMethod(rawValue: "GET")
  /// `HEAD`: parameters go into the URL; the response has no body.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// `POST`: parameters go into the body.
  public static let post = HTTPMethod(rawValue: "POST")
  /// `PUT`: parameters go into the body.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// `PATCH` (RFC 5789): parameters go into the body.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// `DELETE`: parameters go into the URL.
  public static let delete = HTTPMethod(rawValue: "DELETE")
  /// `OPTIONS`: parameters go into the body.
  public static let options = HTTPMethod(rawValue: "OPTIONS")
  /// `TRACE`: parameters go into the URL, because the request must not have a body (RFC 9110 §9.3.8).
  public static let trace = HTTPMethod(rawValue: "TRACE")
  /// `QUERY` (a safe method with a body, draft-ietf-httpbis-safe-method-w-body): parameters go into the body.
  public static let query = HTTPMethod(rawValue: "QUERY")

  /// Whether the method is safe (RFC 9110 §9.2.1), also those of WebDAV in IANA's registry; `false` for unknown methods.
  package var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace, .query, "PROPFIND", "REPORT", "SEARCH": true
    default: false
    }
  }

  /// Whether the method is idempotent (RFC 9110 §9.2.2); `false` for unknown methods. MKCOL, COPY and MOVE, which IANA's
  /// registry lists, too, are not: the second one fails because the first one succeeded.
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether parameters go into the query of the URL and not into the body: GET, HEAD, DELETE and TRACE.
  package var putsParametersInURL: Bool { self == .get || self == .head || self == .delete || self == .trace }
}
