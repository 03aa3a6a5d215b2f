extension Redaction {
  /// Words that make a name secret.
  static let secretWords: Set<String> = signatures.union([
    "token", "jwt", "bearer", "assertion", "verifier",
    "secret", "secrets", "password", "passwords", "passwd", "pwd", "passcode", "passphrase", "pin", "otp", "totp",
    "cvv",
    "cvc", "key",
    "auth", "authorization", "authenticate", "credential", "credentials", "cookie", "cookies", "session", "sid",
    // Spelled without a mark.
    "accesskey", "accesstoken", "apikey", "apitoken", "appsecret", "authkey", "authtoken", "cardnumber", "clientsecret",
    "csrftoken", "idtoken", "jsessionid", "phpsessid", "privatekey", "refreshtoken", "secretkey", "sessid", "sessionid",
    "sessionkey", "sessiontoken", "usertoken", "xsrftoken",
  ])

  /// Those that tell who asks.
  static let identityWords = secretWords.subtracting(signatures)

  /// What is different for each request, so that it does not tell who asks.
  static let signatures: Set<String> = ["sign", "signature", "sig", "hmac", "dpop"]

  /// Two words that are harmless together: what is sorted, stored or counted by, protocols' own keys, and verbs.
  private static let harmless: Set<String> = [
    "cachekey", "foreignkey", "groupkey", "idempotencykey", "orderkey", "partitionkey", "primarykey", "publickey",
    "routingkey", "rowkey", "sortkey", "surrogatekey", "socketkey", "websocketkey",
    "signin", "signout", "signup", "tokentype",
  ]

  /// Whether one of `words` stands in `name`, and is not part of a harmless pair.
  static func hasWord(_ name: String, of words: Set<String>) -> Bool {
    // `apiKey` is two words, but `APIkey` and `DPoP` are one.
    var parts = Words(name, splitsAtCase: true)
    if parts.contain(words) { return true }
    guard parts.hasSplitAtCase else { return false }
    parts = Words(name, splitsAtCase: false)
    return parts.contain(words)
  }

  /// The words of a name in lower case, from the first to the last. Without arrays: the cache asks for each field of each
  /// request.
  private struct Words {
    private let bytes: String.UTF8View
    private var at: String.UTF8View.Index
    private let splitsAtCase: Bool
    /// Whether a word has ended in front of a capital letter.
    private(set) var hasSplitAtCase = false

    init(_ name: String, splitsAtCase: Bool) {
      bytes = name.utf8
      at = bytes.startIndex
      self.splitsAtCase = splitsAtCase
    }

    mutating func contain(_ words: Set<String>) -> Bool {
      var (previous, isSecret) = ("", false)
      while let word = next() {
        if isSecret, !harmless.contains(previous + word) { return true }
        isSecret = words.contains(word) && !harmless.contains(previous + word)
        previous = word
      }
      return isSecret
    }

    private mutating func next() -> String? {
      while at < bytes.endIndex, !Self.isLetter(bytes[at]) { bytes.formIndex(after: &at) }
      guard at < bytes.endIndex else { return nil }
      let start = at
      while at < bytes.endIndex, Self.isLetter(bytes[at]) {
        if splitsAtCase, at > start, Self.isUpper(bytes[at]), startsWord(at) {
          hasSplitAtCase = true
          break
        }
        bytes.formIndex(after: &at)
      }
      return String(decoding: bytes[start..<at].lazy.map { Self.isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether the capital at `index` follows a small letter, or ends a row of capitals: `userID`, `APIKey`.
    private func startsWord(_ index: String.UTF8View.Index) -> Bool {
      if !Self.isUpper(bytes[bytes.index(before: index)]) { return true }
      let after = bytes.index(after: index)
      return after < bytes.endIndex && Self.isLetter(bytes[after]) && !Self.isUpper(bytes[after])
    }

    private static func isUpper(_ byte: UInt8) -> Bool { byte >= 65 && byte <= 90 }
    private static func isLetter(_ byte: UInt8) -> Bool { isUpper(byte) || byte >= 97 && byte <= 122 || byte >= 128 }
  }
}
