import PortableFoundation

/// The text of what a caller asks for: two uploads are the same if their texts are.
///
/// A value counts if it may name the target, because an upload that starts over costs time, and one that is continued for
/// another target loses a file. Only values that change by themselves between two runs do not count: credentials,
/// signatures with their times, and fields that describe a single request. Other secrets count, so only the digest of the
/// text is stored.
enum UploadIdentity {
  /// Returns the text of an upload of `file`.
  ///
  /// - Parameters:
  ///   - request: The request of the endpoint, without common parameters and the fields of a protocol.
  ///   - user: The user who uploads.
  static func text(of request: Request, file: URL, user: String) -> String {
    let fields = request.headers
      .filter { !isOfOneRequest($0.name.lowercased()) && !isRenewed($0.name) }
      .map { "\($0.name.lowercased()): \($0.value)" }
    // The name of a field has no such sign.
    let userOfURL = request.url.user.map { ["@\($0)"] } ?? []
    let parts = [request.method.rawValue, place(of: request.url), user, file.lastPathComponent] + userOfURL
    return (parts + fields.sorted())
      .map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Returns the text of the values that may be all that tells one user from another: `cookies`, and every value with the
  /// name of a secret or a credential. Values that the identity has may be among them.
  static func secrets(of request: Request, cookies: String?, hiding redaction: Redaction) -> String {
    let fields = request.headers
      .filter { !isOfOneRequest($0.name.lowercased()) && (redaction.hides($0.name) || isRenewed($0.name)) }
      .map { "\($0.name.lowercased()): \($0.value)" }
    let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    let pairs = query.filter { redaction.hides($0.name) || Redaction.isSignature($0.name) }
      .map { "\($0.name)=\($0.value ?? "")" }
    return ([request.url.password ?? "", cookies ?? ""] + fields.sorted() + pairs.sorted())
      .map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Returns the URL without its user, its fragment, and the signature in its query.
  private static func place(of url: URL) -> String {
    let text = CacheKey.stable(withoutUser(url))
    guard let mark = text.firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: mark)...].split(separator: "&").map { pair in
      let name = pair.prefix { $0 != "=" }
      return (name: name.decodingPercent ?? String(name), pair: pair)
    }
    let unsigned = pairs.filter { !Redaction.isSignature($0.name) }
    // A signature comes with the times at which it begins and ends, and with temporary credentials.
    let isSigned = unsigned.count < pairs.count
    let kept = unsigned.filter { !isSigned || !partsOfSignatures.contains($0.name.lowercased()) }
    return text[..<mark] + kept.map { "?\($0.pair)" }.joined()
  }

  private static func withoutUser(_ url: URL) -> URL {
    guard url.user != nil || url.password != nil,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return url }
    (parts.user, parts.password) = (nil, nil)
    return parts.url ?? url
  }

  /// Returns whether the value of the field changes by itself between two runs.
  private static func isRenewed(_ field: String) -> Bool {
    ["authorization", "cookie"].contains(field.lowercased()) || Redaction.isSignature(field)
  }

  private static let partsOfSignatures: Set<String> = [
    "x-amz-date", "x-amz-expires", "x-amz-credential", "x-amz-security-token", "x-goog-date", "x-goog-expires",
    "x-goog-credential", "x-goog-security-token", "security-token", "expires", "exp", "timestamp", "ts", "nonce",
  ]

  private static func isOfOneRequest(_ name: String) -> Bool {
    name.hasPrefix("if-") || name.hasPrefix("accept")
      || [
        "idempotency-key", "date", "x-amz-date", "x-goog-date", "x-ms-date", "user-agent", "traceparent", "tracestate",
        "x-request-id", "x-correlation-id",
      ].contains(name)
  }
}
