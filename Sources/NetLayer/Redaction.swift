import Foundation

/// What must not be seen in logs and error descriptions (article row 2.19).
///
/// Header fields, parameters in queries and forms, and members of JSON are hidden by name, wherever they stand; user and password of a URL
/// always are. Names compare without case, `-` and `_`: `access_token` hides `accessToken` and `Access-Token`.
public struct Redaction: Sendable {
  /// What stands in place of a secret.
  public var placeholder: String
  private var names: Set<String>
  /// Whether everything is shown.
  let hidesNothing: Bool

  /// Hides what has one of `names`.
  public init(names: Set<String>, placeholder: String = "***") {
    self.names = Set(names.map(Self.normal))
    self.placeholder = placeholder
    hidesNothing = false
  }

  private init() {
    names = []
    placeholder = ""
    hidesNothing = true
  }

  /// Hides what is secret in most back ends; the default everywhere.
  public static let standard = Redaction(names: [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "token", "access-token", "refresh-token",
    "id-token", "auth-token", "x-token", "x-auth-token", "x-access-token", "private-token", "csrf-token",
    "x-csrf-token", "xsrf-token",
    "x-xsrf-token", "api-key", "x-api-key", "password", "passwd", "pwd", "passcode", "secret", "client-secret",
    "app-secret", "private-key", "credential", "credentials", "session", "session-id", "x-session", "x-session-id",
    "sid", "jwt", "otp", "pin",
    "sign", "signature", "x-signature", "www-authenticate", "card-number", "cvv",
  ])

  /// Hides nothing: for a debugger's eyes only.
  public static let none = Redaction()

  /// The same, hiding these names, too.
  public func hiding(_ more: String...) -> Redaction {
    var copy = hidesNothing ? Redaction(names: []) : self
    copy.names.formUnion(more.map(Self.normal))
    return copy
  }

  /// The same, hiding what `other` hides, too.
  func hiding(_ other: Redaction) -> Redaction {
    guard names != other.names else { return self }
    var copy = hidesNothing ? Redaction(names: []) : self
    copy.names.formUnion(other.names)
    return copy
  }

  /// Whether what is called `name` is hidden.
  public func hides(_ name: String) -> Bool { names.contains(Self.normal(name)) }

  /// The fields with the values of secret ones replaced, and the secrets inside the values of others.
  public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(
      headers.map { field in
        HTTPHeaders.Field(name: field.name, value: hides(field.name) ? placeholder : text(field.value))
      })
  }

  /// The URL with secrets in its query, and user and password, replaced.
  public func url(_ url: URL) -> String { text(url.absoluteString) }

  /// Any text with the secrets in it replaced: `name=value`, `"name": "value"`, `Name: value` lines and
  /// parts of a multipart body.
  public func text(_ text: String) -> String {
    guard !hidesNothing else { return text }
    var scanner = SecretScanner(text, redaction: self)
    return scanner.redacted()
  }

  /// The same without signatures: what tells who asks, where those are different each time.
  var identities: Redaction {
    var copy = self
    copy.names.subtract(Self.signatures)
    return copy
  }

  /// Whether `identities` hides `name`.
  func identifies(_ name: String) -> Bool {
    let name = Self.normal(name)
    return names.contains(name) && !Self.signatures.contains(name)
  }

  private static let signatures: Set = ["sign", "signature", "xsignature"]

  /// What tells who asks in most back ends.
  static let identities = standard.identities

  private static func normal(_ name: String) -> String {
    let bytes = name.utf8
    guard bytes.allSatisfy({ $0 < 128 }) else { return name.lowercased().filter { $0 != "-" && $0 != "_" } }
    // Without a buffer for short names: the cache asks for each field of each request.
    return String(unsafeUninitializedCapacity: bytes.count) { text in
      var count = 0
      for byte in bytes where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
        text[count] = byte >= 65 && byte <= 90 ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }
}
