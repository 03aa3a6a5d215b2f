import PortableFoundation

/// What users read when a call fails and the server said nothing itself (article row 0.25).
public struct Messages: Sendable {
  /// The message where the server could not be reached.
  public var network: String
  /// The message when a time limit was reached.
  public var timeout: String
  /// The message for a cancelled call.
  public var cancelled: String
  /// The message when the certificate or the TLS version is refused.
  public var tls: String
  /// The message for JSON that is malformed or not of the expected shape.
  public var parse: String
  /// The message for parameters that cannot be sent.
  public var parameter: String
  /// The message for 401, and when a new token could not be got.
  public var authentication: String
  /// The message for 403: who is signed in has not the right.
  public var forbidden: String
  /// The message for 404 and 410.
  public var notFound: String
  /// The message for the other statuses from 400 to 499, and where the envelope refuses without a word.
  public var badRequest: String
  /// The message for statuses from 500, and for redirects that lead nowhere.
  public var server: String
  /// The message when a file cannot be written.
  public var file: String
  /// The message where nothing is stored and the server may not be asked.
  public var notCached: String
  /// The message for every other kind.
  public var other: String

  /// The table for the user's first preferred language: Chinese where it starts with `zh`, else English.
  public static let localized: Messages =
    (Locale.preferredLanguages.first ?? "en").lowercased().hasPrefix("zh") ? chinese : english

  /// The message for an error of `kind`; for `status` errors, `status` chooses.
  public func text(for kind: NetworkError.Kind, status: Int? = nil) -> String {
    kind.message(in: self, status: status)
  }
}
