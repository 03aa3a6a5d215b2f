extension Redaction {
  /// The hashes of the words that make a name secret. Hashes are fast, because the cache checks each field of each
  /// request.
  static let secretWords = identityWords.union(signatures.map(hash))

  /// The words of names that identify a user.
  static let identityWords = Set(
    [
      "token", "jwt", "bearer", "assertion", "verifier",
      "secret", "secrets", "password", "passwords", "passwd", "pwd", "passcode", "passphrase", "pin", "otp", "totp",
      "cvv", "cvc", "key",
      "auth", "authorization", "authenticate", "authentication", "credential", "credentials", "creds", "cookie",
      "cookies", "session", "sid", "csrf", "xsrf",
      // Common spellings without a separator.
      "accesskey", "accesstoken", "apikey", "apitoken", "appsecret", "authkey", "authtoken", "cardnumber",
      "clientsecret", "creditcardnumber", "csrfmiddlewaretoken", "csrftoken", "idtoken", "jsessionid", "phpsessid",
      "privatekey",
      "refreshtoken", "secretkey", "sessid", "sessionid", "sessionkey", "sessiontoken", "usertoken", "xsrftoken",
    ].map(hash))

  /// The names that are secret only as a whole, without separators and digits: `access_level` and `pass_count` are not.
  private static let wholeNames = Set(
    ["access", "refresh", "devicecode", "pass", "userpass", "xpass", "xticket", "xamznoidcdata"].map(hash))

  /// The words of values that differ in each request, so that they do not identify a user.
  static let signatures: Set<String> = ["sign", "signature", "sig", "hmac", "dpop"]

  private static let signatureWords = Set(signatures.map(hash))

  /// Returns whether `name` contains a word of a signature, which differs in each request: `sign`, `X-Amz-Signature`.
  package static func isSignature(_ name: String) -> Bool {
    // Every set of words includes the names that are secret as a whole.
    hasWord(name, of: signatureWords) && !hasWord(name, of: [])
  }

  /// Pairs of words that are harmless together: keys for sorting, storage and grouping, keys of protocols,
  /// verbs, and challenges, which say what a 401 needs (RFC 9110 §11.6.1).
  private static let harmless = Set(
    [
      "cachekey", "foreignkey", "groupkey", "idempotencykey", "orderkey", "partitionkey", "primarykey", "publickey",
      "routingkey", "rowkey", "sortkey", "surrogatekey", "socketkey", "websocketkey",
      "signin", "signout", "signup", "tokentype", "wwwauthenticate", "proxyauthenticate",
    ].map(hash))

  /// Returns whether `name` contains one of `words` that is not part of a harmless pair, or is secret as a whole.
  static func hasWord(_ name: String, of words: Set<UInt64>) -> Bool {
    name.utf8.withContiguousStorageIfAvailable { hasWord($0, of: words) }
      ?? Array(name.utf8).withUnsafeBufferPointer { hasWord($0, of: words) }
  }

  private static func hasWord(_ name: UnsafeBufferPointer<UInt8>, of words: Set<UInt64>) -> Bool {
    // `apiKey` is two words, but `APIkey` and `DPoP` are one word each, and `card_number` is known as a whole.
    var (parts, runs, whole) = (Track(), Track(), start)
    for (index, byte) in name.enumerated() {
      guard isLetter(byte) else {
        if parts.end(words) || runs.end(words) { return true }
        continue
      }
      if startsPart(index, in: name), parts.end(words) { return true }
      let small = isCapital(byte) ? byte | 0x20 : byte
      parts.add(small)
      runs.add(small)
      whole = step(whole, small)
    }
    return parts.end(words) || parts.isSecret || runs.end(words) || runs.isSecret || words.contains(whole)
      || wholeNames.contains(whole)
  }

  private struct Track {
    private var word = start
    /// The previous word and the current one.
    private var pair = start
    private var isOpen = false
    /// Whether the last word is secret, unless the next word makes it harmless.
    private(set) var isSecret = false

    mutating func add(_ byte: UInt8) {
      word = step(word, byte)
      pair = step(pair, byte)
      isOpen = true
    }

    /// Ends a word. Returns whether the word before it is definitely secret.
    mutating func end(_ words: Set<UInt64>) -> Bool {
      guard isOpen else { return false }
      if isSecret, !harmless.contains(pair) { return true }
      isSecret = words.contains(word) && !harmless.contains(pair)
      (pair, word, isOpen) = (word, start, false)
      return false
    }
  }

  /// Returns whether the letter at `index` is a capital after a lowercase letter, or the last of several capitals:
  /// `userID`, `APIKey`.
  private static func startsPart(_ index: Int, in name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard index > 0, isCapital(name[index]), isLetter(name[index - 1]) else { return false }
    guard isCapital(name[index - 1]) else { return true }
    return index + 1 < name.count && isLetter(name[index + 1]) && !isCapital(name[index + 1])
  }

  private static func isCapital(_ byte: UInt8) -> Bool { byte >= 65 && byte <= 90 }
  private static func isLetter(_ byte: UInt8) -> Bool { isCapital(byte) || byte >= 97 && byte <= 122 || byte >= 128 }

  // FNV-1a.
  private static let start: UInt64 = 0xCBF2_9CE4_8422_2325
  private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  private static func hash(_ word: String) -> UInt64 { word.utf8.reduce(start, step) }
}
