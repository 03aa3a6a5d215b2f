/// The method of an HTTP request (RFC 9110 §9); a struct, so that any extension method can be named.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The method's token as it goes over the wire; case-sensitive (RFC 9110 §9.1).
  public let rawValue: String

  /// Takes any token; what is no token is refused when the request is built, with an error that names it.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Takes any token, as a literal.
  public init(stringLiteral value: String) { rawValue = value }

  /// The token.
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
  /// `TRACE`: parameters go into the URL, since it must not have a body (RFC 9110 §9.3.8).
  public static let trace = HTTPMethod(rawValue: "TRACE")
  /// `CONNECT`: the transports refuse it, since they open tunnels themselves (`CurlTransport.Configuration.proxy`).
  public static let connect = HTTPMethod(rawValue: "CONNECT")
  /// `QUERY` (a safe method with a body, draft-ietf-httpbis-safe-method-w-body): parameters go into the body.
  public static let query = HTTPMethod(rawValue: "QUERY")

  /// Whether it only asks (RFC 9110 §9.2.1); of methods not known it is not assumed.
  package var isSafe: Bool { [.get, .head, .options, .trace, .query].contains(self) }

  /// Whether two requests do what one does (RFC 9110 §9.2.2); of methods not known it is not assumed.
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether parameters belong into the URL's query rather than the body: GET, HEAD, DELETE and TRACE.
  package var putsParametersInURL: Bool { self == .get || self == .head || self == .delete || self == .trace }
}
