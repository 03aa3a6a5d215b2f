import PortableFoundation

/// The text of what a caller asks for: two uploads are the same if their texts are.
///
/// A value counts if it may name the target, because an upload that starts over costs time, and one that is continued for
/// another target loses a file. Secrets do not count, since tokens and signatures change between two runs, nor do fields
/// that describe a single request.
enum UploadIdentity {
  /// Returns the text of an upload of `file`.
  ///
  /// - Parameters:
  ///   - request: The request of the endpoint, without common parameters and the fields of a protocol.
  ///   - user: The user who uploads.
  ///   - redaction: The names of secrets.
  static func text(of request: Request, file: URL, user: String, hiding redaction: Redaction) -> String {
    let fields = request.headers
      .filter { !isOfOneRequest($0.name.lowercased()) && !hides($0.name, redaction) }
      .map { "\($0.name.lowercased()): \($0.value)" }
    // The name of a field has no such sign.
    let userOfURL = request.url.user.map { ["@\($0)"] } ?? []
    let parts = [request.method.rawValue, place(of: request.url, redaction), user, file.lastPathComponent] + userOfURL
    return (parts + fields.sorted())
      .map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Returns the text of the values that the identity does not have: those of secrets, and `cookies`.
  static func secrets(of request: Request, cookies: String?, hiding redaction: Redaction) -> String {
    let fields = request.headers
      .filter { !isOfOneRequest($0.name.lowercased()) && hides($0.name, redaction) }
      .map { "\($0.name.lowercased()): \($0.value)" }
    let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    let pairs = query.filter { hides($0.name, redaction) }.map { "\($0.name)=\($0.value ?? "")" }
    return ([request.url.password ?? "", cookies ?? ""] + fields.sorted() + pairs.sorted())
      .map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// Returns the URL without its user, its fragment, and the secrets in its query.
  private static func place(of url: URL, _ redaction: Redaction) -> String {
    let text = CacheKey.stable(withoutUser(url))
    guard let mark = text.firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: mark)...].split(separator: "&").map { pair in
      let name = pair.prefix { $0 != "=" }
      return (name: name.decodingPercent ?? String(name), pair: pair)
    }
    let open = pairs.filter { !hides($0.name, redaction) }
    // A signature comes with the times at which it begins and ends.
    let isSigned = open.count < pairs.count
    let kept = open.filter { !isSigned || !timesOfSignatures.contains($0.name.lowercased()) }
    return text[..<mark] + kept.map { "?\($0.pair)" }.joined()
  }

  private static func withoutUser(_ url: URL) -> URL {
    guard url.user != nil || url.password != nil,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return url }
    (parts.user, parts.password) = (nil, nil)
    return parts.url ?? url
  }

  /// A parameter or field with the name `key` alone is usually the name of an object.
  private static func hides(_ name: String, _ redaction: Redaction) -> Bool {
    redaction.hides(name) && name.lowercased() != "key"
  }

  private static let timesOfSignatures: Set<String> = [
    "x-amz-date", "x-amz-expires", "x-goog-date", "x-goog-expires", "expires", "exp", "timestamp", "ts", "nonce",
  ]

  private static func isOfOneRequest(_ name: String) -> Bool {
    name.hasPrefix("if-") || name.hasPrefix("accept")
      || [
        "idempotency-key", "date", "x-amz-date", "x-goog-date", "x-ms-date", "user-agent", "traceparent", "tracestate",
        "x-request-id", "x-correlation-id",
      ].contains(name)
  }
}
