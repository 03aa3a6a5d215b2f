import PortableFoundation

/// The names whose values must not appear in logs and error descriptions (article row 2.19).
///
/// The names of header fields, query and form parameters, multipart parts and JSON members are compared. User and password of a
/// URL are always hidden. ``standard`` goes by words in a name: `X-User-Token`, `new_password` and `apiKey` are secret, `monkey`
/// and `sort_key` are not. Names of your own are compared whole, without case, `-` and `_`: `x_shop_user` hides `X-Shop-User`.
///
/// The same rules decide which header fields a redirect does not take to another origin, and which tell `CacheInterceptor` one
/// user from another.
public struct Redaction: Sendable, Hashable {
  /// The text in place of a secret.
  public var placeholder: String
  /// Whole names, without case and marks.
  private var names: Set<String>
  /// Whether words make a name secret, wherever they stand in it.
  private var goesByWords: Bool
  private var leavesOutSignatures = false
  /// Whether everything is shown.
  package let hidesNothing: Bool

  /// Hides the values of `names`, and nothing else.
  public init(names: Set<String>, placeholder: String = "***") {
    self.init(names: names, goesByWords: false, placeholder: placeholder)
  }

  private init(names: Set<String>, goesByWords: Bool, placeholder: String = "***", hidesNothing: Bool = false) {
    self.names = Set(names.map(Self.normal))
    self.goesByWords = goesByWords
    self.placeholder = placeholder
    self.hidesNothing = hidesNothing
  }

  /// Hides what is secret in most backends; the default everywhere.
  ///
  /// A name is secret if one of its words is. Words end at `-`, `_`, `.`, digits and where lower case changes to upper case:
  /// - token, jwt, bearer, assertion, verifier
  /// - secret(s), password(s), passwd, pwd, passcode, passphrase, pin, otp, totp, cvv, cvc
  /// - key, but not in the names of sorting, storage and protocol keys such as `sort_key`, `primaryKey`, `Idempotency-Key`,
  ///   `Sec-WebSocket-Key` and `publicKey`
  /// - auth, authorization, authenticate, credential(s), cookie(s), session, sid
  /// - sign, signature, sig, hmac, dpop; but not `signIn`, `sign_up`, `signOut`
  ///
  /// Usual spellings without a mark count, too: `apikey`, `accesstoken`, `sessionid`, `PHPSESSID`. Words in the plural that
  /// count something (`tokens`, `keys`) do not.
  public static let standard = Redaction(names: [], goesByWords: true)

  /// Hides nothing: for a debugger's eyes only.
  public static let none = Redaction(names: [], goesByWords: false, placeholder: "", hidesNothing: true)

  /// The same, hiding these names, too.
  public func hiding(_ more: String...) -> Redaction { hiding(Redaction(names: Set(more))) }

  /// The same, hiding what `other` hides, too.
  package func hiding(_ other: Redaction) -> Redaction {
    guard names != other.names || goesByWords != other.goesByWords else { return self }
    var copy = hidesNothing ? Redaction(names: []) : self
    copy.names.formUnion(other.names)
    copy.goesByWords = goesByWords || other.goesByWords
    return copy
  }

  /// Whether the value of `name` is hidden.
  public func hides(_ name: String) -> Bool {
    !names.isEmpty && names.contains(Self.normal(name))
      || goesByWords && Self.hasWord(name, of: leavesOutSignatures ? Self.identityWords : Self.secretWords)
  }

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
  package var identities: Redaction {
    var copy = self
    copy.names.subtract(Self.signatureNames)
    copy.leavesOutSignatures = true
    return copy
  }

  /// Whether `name` is one of the whole names that `identities` hides.
  package func identifiesByName(_ name: String) -> Bool {
    guard !names.isEmpty else { return false }
    let name = Self.normal(name)
    return names.contains(name) && !Self.signatureNames.contains(name)
  }

  private static let signatureNames = signatures.union(["xsignature"])

  /// What tells who asks in most backends.
  package static let identities = standard.identities

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
