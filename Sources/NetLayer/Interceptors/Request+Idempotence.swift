extension Request {
  /// The origin of the URL: scheme, host, and the port unless it is the scheme's own, such as `https://api.example.com`.
  public var origin: String { Origin(url).text }

  /// Whether sending the request twice has the same effect as sending it once.
  ///
  /// This is the case for an idempotent method (RFC 9110 §9.2.2) or with an `Idempotency-Key`, which the server uses to
  /// detect the second request.
  public var isIdempotent: Bool {
    method.isIdempotent || !headers.values(of: "Idempotency-Key").isEmpty
  }
}
