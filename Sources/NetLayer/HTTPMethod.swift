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

  /// Whether parameters belong into the URL's query rather than the body: GET, HEAD and DELETE.
  var putsParametersInURL: Bool { self == .get || self == .head || self == .delete }
}
