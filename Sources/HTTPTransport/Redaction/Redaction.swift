import PortableFoundation

/// A set of names whose values must not appear in logs and error descriptions.
///
/// The names of header fields, query and form parameters, multipart parts and JSON members are checked. The user and
/// password of a URL are always hidden. ``standard`` detects secret words in names: `X-User-Token`, `new_password` and
/// `apiKey` are secret, `monkey` and `sort_key` are not. Custom names are compared as a whole, ignoring case, `-` and
/// `_`: `x_shop_user` hides `X-Shop-User`.
///
/// The same rules select the header fields that a redirect does not send to another origin, and the fields by which
/// `CacheInterceptor` distinguishes users.
public struct Redaction: Sendable, Hashable {
  /// The text that replaces a secret.
  public var placeholder: String
  /// The custom names, in lowercase without separators.
  private var names: Set<String>
  /// Whether names that contain a secret word are hidden.
  private var goesByWords: Bool
  private var leavesOutSignatures = false
  package let hidesNothing: Bool

  /// Creates a redaction that hides only the values of `names`.
  public init(names: Set<String>, placeholder: String = "***") {
    self.init(names: names, goesByWords: false, placeholder: placeholder)
  }

  private init(names: Set<String>, goesByWords: Bool, placeholder: String = "***", hidesNothing: Bool = false) {
    self.names = Set(names.map(Self.normal))
    self.goesByWords = goesByWords
    self.placeholder = placeholder
    self.hidesNothing = hidesNothing
  }

  /// A redaction that hides the usual secrets of backends. It is the default.
  ///
  /// A name is secret if it contains one of the following words. A word ends at `-`, `_`, `.`, a digit, or a change
  /// from lowercase to uppercase.
  /// - token, jwt, bearer, assertion, verifier
  /// - secret(s), password(s), passwd, pwd, passcode, passphrase, pin, otp, totp, cvv, cvc
  /// - key, but not in the names of sorting, storage and protocol keys such as `sort_key`, `primaryKey`, `Idempotency-Key`,
  ///   `Sec-WebSocket-Key` and `publicKey`
  /// - auth, authorization, authenticate (but not in `WWW-Authenticate` and `Proxy-Authenticate`), authentication,
  ///   credential(s), creds, cookie(s), session, sid, csrf, xsrf
  /// - sign, signature, sig, hmac, dpop; but not `signIn`, `sign_up`, `signOut`
  ///
  /// Common spellings without a separator are detected, too: `apikey`, `accesstoken`, `sessionid`, `PHPSESSID`. Plurals
  /// that count something (`tokens`, `keys`) are not secret. The following names are secret as a whole, because their
  /// words are common: `access` and `refresh` (the members of `Token`), `device_code` (RFC 8628 §5.2), `pass`, `user_pass`,
  /// `X-Pass`, `X-Ticket` and `X-Amzn-Oidc-Data`.
  public static let standard = Redaction(names: [], goesByWords: true)

  /// A redaction that hides what the backend of a call hides: the default of everything that shows calls.
  public static let inherited = Redaction(names: [])

  /// A redaction that hides nothing. Use it only for debugging.
  public static let none = Redaction(names: [], goesByWords: false, placeholder: "", hidesNothing: true)

  /// Returns a text without the users and passwords of its URLs, whoever has written it: a caller, a server or a library.
  static func withoutUsers(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
    var (shown, rest) = ("", text[...])
    while let slashes = rest.firstRange(of: "//") {
      let before = rest[..<slashes.lowerBound].last { !$0.isLetter && !$0.isNumber && !"+-.:".contains($0) }
      shown += rest[..<slashes.upperBound]
      rest = rest[slashes.upperBound...]
      // A quoted URL may contain blanks, and a quote in it is escaped.
      let end = rest.firstIndex { "/?#\"<>\n".contains($0) || before != "\"" && $0.isWhitespace } ?? rest.endIndex
      guard let mark = rest[..<end].lastIndex(of: "@") else { continue }
      shown += standard.placeholder
      rest = rest[mark...]
    }
    return shown + rest
  }

  /// Returns a redaction that also hides `names`.
  public func hiding(_ names: Set<String>) -> Redaction { hiding(Redaction(names: names)) }

  package func hiding(_ other: Redaction) -> Redaction {
    guard names != other.names || goesByWords != other.goesByWords else { return self }
    var copy = hidesNothing ? Redaction(names: []) : self
    copy.names.formUnion(other.names)
    copy.goesByWords = goesByWords || other.goesByWords
    return copy
  }

  /// Returns whether the value of `name` is hidden.
  public func hides(_ name: String) -> Bool {
    !names.isEmpty && names.contains(Self.normal(name))
      || goesByWords && Self.hasWord(name, of: leavesOutSignatures ? Self.identityWords : Self.secretWords)
  }

  /// Returns the fields with the values of secret fields replaced, and also the secrets within other values.
  public func redacted(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(
      headers.map { field in
        HTTPHeaders.Field(name: field.name, value: hides(field.name) ? placeholder : redacted(field.value))
      })
  }

  /// Returns the URL with its user, its password and the secrets in its query replaced.
  public func redacted(_ url: URL) -> String {
    guard !hidesNothing else { return url.absoluteString }
    var scanner = SecretScanner(Array(url.absoluteString.utf8), redaction: self, isURL: true)
    return String(decoding: scanner.redacted(), as: UTF8.self)
  }

  /// Returns the text with its secrets replaced: `name=value`, `"name": "value"`, `Name: value` lines,
  /// `<name>value</name>` and parts of a multipart body. Names, `=`, `:` and quotes may be percent-encoded, and blanks
  /// may precede `=` and `:`.
  public func redacted(_ text: String) -> String {
    hidesNothing ? text : String(decoding: bytes(text.utf8), as: UTF8.self)
  }

  /// Returns the bytes of a text in any encoding that extends ASCII, with its secrets replaced as in `redacted`. Pass
  /// `isCut` for the start of a longer text: a secret without an end is then hidden, too.
  package func bytes(_ bytes: some Sequence<UInt8>, isCut: Bool = false) -> [UInt8] {
    guard !hidesNothing else { return Array(bytes) }
    var scanner = SecretScanner(Array(bytes), redaction: self, isCut: isCut)
    return scanner.redacted()
  }

  /// The redaction without signatures, which differ in each request and therefore do not identify a user.
  package var identities: Redaction {
    var copy = self
    copy.names.subtract(Self.signatureNames)
    copy.leavesOutSignatures = true
    return copy
  }

  /// Returns whether `name` is one of the custom names that `identities` hides.
  package func identifiesByName(_ name: String) -> Bool {
    guard !names.isEmpty else { return false }
    let name = Self.normal(name)
    return names.contains(name) && !Self.signatureNames.contains(name)
  }

  private static let signatureNames = signatures.union(["xsignature"])

  /// A redaction that hides the values that identify a user in most backends.
  package static let identities = standard.identities

  private static func normal(_ name: String) -> String {
    let bytes = name.utf8
    guard bytes.allSatisfy({ $0 < 128 }) else { return name.lowercased().filter { $0 != "-" && $0 != "_" } }
    // Avoids a buffer for short names, because the cache checks each field of each request.
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
