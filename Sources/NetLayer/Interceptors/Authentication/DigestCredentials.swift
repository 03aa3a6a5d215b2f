import PortableFoundation

/// The response to a Digest challenge (RFC 7616), with SHA-256 or MD5 and the protection `auth`.
struct DigestCredentials: Sendable {
  private let challenge: Challenge
  private let hash: @Sendable (Data) -> Data
  private let isSession: Bool
  private(set) var nonce: String
  /// The number of requests that were sent with the nonce.
  private var count: UInt32 = 0

  /// Whether the server has only rejected the age of the nonce, not the password.
  var isStale: Bool { challenge.parameters["stale"]?.lowercased() == "true" }

  static func best(of challenges: [Challenge]) -> DigestCredentials? {
    let known = challenges.compactMap(DigestCredentials.init)
    return known.first { $0.algorithm.hasPrefix("sha-256") } ?? known.first
  }

  private var algorithm: String { challenge.parameters["algorithm"]?.lowercased() ?? "md5" }
  private var hasProtection: Bool { challenge.parameters["qop"] != nil }

  /// Returns whether the values of a challenge that each response repeats can be sent in a header field.
  static func isRepeatable(_ challenge: Challenge) -> Bool {
    ["realm", "nonce", "opaque"].allSatisfy { challenge.parameters[$0].map(RequestCheck.isSendable) ?? true }
  }

  /// Creates the response to `challenge`, or returns `nil` for another scheme, an unknown algorithm or protection, or a
  /// challenge without realm or nonce, or with values that can't be sent.
  init?(_ challenge: Challenge) {
    guard challenge.scheme == "digest", challenge.parameters["realm"] != nil, let nonce = challenge.parameters["nonce"]
    else { return nil }
    guard Self.isRepeatable(challenge) else { return nil }
    if let qop = challenge.parameters["qop"] {
      guard qop.split(separator: ",").contains(where: { $0.trimmingBlanks.lowercased() == "auth" }) else { return nil }
    }
    (self.challenge, self.nonce) = (challenge, nonce)
    switch challenge.parameters["algorithm"]?.lowercased() ?? "md5" {
    case "md5": (hash, isSession) = (Hash.md5, false)
    case "md5-sess": (hash, isSession) = (Hash.md5, true)
    case "sha-256": (hash, isSession) = (Hash.sha256, false)
    case "sha-256-sess": (hash, isSession) = (Hash.sha256, true)
    default: return nil
    }
  }

  /// Uses the nonce that the server has announced for the next request (RFC 7616 §3.5).
  mutating func renew(_ nonce: String) { (self.nonce, count) = (nonce, 0) }

  /// Returns the `Authorization` field of the next request, with the random text `cnonce`.
  mutating func authorization(
    user: String, password: String, method: String, target: String, cnonce: String
  ) -> String {
    // A server compares the count only with the one before.
    count &+= 1
    let nc = count.hex(digits: 8)
    let realm = challenge.parameters["realm"] ?? ""
    var secret = hex("\(user):\(realm):\(password)")
    if isSession { secret = hex("\(secret):\(nonce):\(cnonce)") }
    let subject = hex("\(method):\(target)")
    let response =
      hasProtection ? hex("\(secret):\(nonce):\(nc):\(cnonce):auth:\(subject)") : hex("\(secret):\(nonce):\(subject)")
    var fields: [String] = []
    let hidesUser = challenge.parameters["userhash"]?.lowercased() == "true"
    if hidesUser {
      fields.append("username=\(Self.quoted(hex("\(user):\(realm)")))")
    } else if user.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
      fields.append("username=\(Self.quoted(user))")
    } else {
      fields.append("username*=UTF-8''\(user.urlEscaped)")
    }
    fields += ["realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(target))"]
    fields.append("response=\(Self.quoted(response))")
    if let algorithm = challenge.parameters["algorithm"] { fields.append("algorithm=\(algorithm)") }
    if let opaque = challenge.parameters["opaque"] { fields.append("opaque=\(Self.quoted(opaque))") }
    if hasProtection { fields += ["qop=auth", "nc=\(nc)"] }
    if hasProtection || isSession { fields.append("cnonce=\(Self.quoted(cnonce))") }
    if hidesUser { fields.append("userhash=true") }
    return "Digest " + fields.joined(separator: ", ")
  }

  private func hex(_ text: String) -> String { Hash.hex(hash(Data(text.utf8))) }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
