import PortableFoundation

extension NetworkError {
  /// The messages that a user sees when a call fails and the server's response has no message.
  public struct Messages: Sendable {
    /// The message for a server that can't be reached.
    public var network: String
    /// The message for a time limit that was exceeded, and for status 408.
    public var timeout: String
    /// The message for a cancelled call.
    public var cancelled: String
    /// The message for a certificate or TLS version that is not accepted.
    public var tls: String
    /// The message for a response that is malformed or does not match the model.
    public var parse: String
    /// The message for parameters that can't be sent.
    public var parameter: String
    /// The message for status 401, and for a token refresh that the server rejected.
    public var authentication: String
    /// The message for status 403: the user lacks the permission.
    public var forbidden: String
    /// The message for statuses 404 and 410.
    public var notFound: String
    /// The message for status 429: the server limits the number of requests.
    public var tooManyRequests: String
    /// The message for the other statuses from 400 to 499, and for an envelope that reports a failure without a message.
    public var badRequest: String
    /// The message for statuses of 500 and above, and for redirects that can't be followed.
    public var server: String
    /// The message for a file that can't be read or written.
    public var file: String
    /// The message for content that is not cached while the cache policy forbids a request.
    public var notCached: String
    /// The message for a file that another subscription or process works with.
    public var fileInUse: String
    /// The message for a request that the server may or may not have processed.
    public var unknownOutcome: String
    /// The message for all other kinds.
    public var other: String

    /// The messages in the user's first preferred language: Chinese if it starts with `zh`, otherwise English.
    public static let localized: Messages =
      (Locale.preferredLanguages.first ?? "en").lowercased().hasPrefix("zh") ? chinese : english

    /// Returns the message for an error of `kind`; for `status` errors, `status` selects the message.
    public func text(for kind: NetworkError.Kind, status: Int? = nil) -> String {
      kind.message(in: self, status: status)
    }
  }
}
