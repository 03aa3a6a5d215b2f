import Foundation

/// Why a call failed, with everything known about it: nothing is swallowed (article rows 0.4, 0.24, 1.11, 2.8, 2.18).
public struct NetworkError: Error, Sendable {
  /// What sort of failure it was; a struct, so that a new kind breaks no `switch`.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name, as it appears in logs.
    public let rawValue: String

    /// A kind of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The connection could not be made, or broke before the answer was complete.
    public static let connection = Kind(rawValue: "connection")
    /// The host's name could not be resolved.
    public static let unknownHost = Kind(rawValue: "unknownHost")
    /// The connect, idle or total time limit was reached.
    public static let timeout = Kind(rawValue: "timeout")
    /// The caller cancelled.
    public static let cancelled = Kind(rawValue: "cancelled")
    /// TLS could not be set up: certificate, host name, version.
    public static let tls = Kind(rawValue: "tls")
    /// A redirect that must not be followed: too many, or to another scheme than http and https.
    public static let redirect = Kind(rawValue: "redirect")
    /// The request itself is no valid HTTP request: scheme, host, method, header.
    public static let invalidRequest = Kind(rawValue: "invalidRequest")
    /// The parameters could not be encoded; nothing was sent.
    public static let encoding = Kind(rawValue: "encoding")
    /// A new token could not be got; the underlying error says why.
    public static let authentication = Kind(rawValue: "authentication")
    /// The HTTP status is not a success.
    public static let status = Kind(rawValue: "status")
    /// The envelope's code is not a success: the server refused, in its own words.
    public static let business = Kind(rawValue: "business")
    /// The body is not what was asked for: malformed JSON, missing or wrong member.
    public static let parse = Kind(rawValue: "parse")
    /// A file could not be written: a download's, or a recording's.
    public static let file = Kind(rawValue: "file")
    /// Nothing is stored, and the cache policy forbids to ask the server.
    public static let notCached = Kind(rawValue: "notCached")
    /// The pages of a list would never end: a cursor came a second time, on the page that `index` says.
    public static let sequence = Kind(rawValue: "sequence")
    /// An error that is not the network layer's own; it is the underlying one.
    public static let other = Kind(rawValue: "other")
  }

  /// What sort of failure it was.
  public var kind: Kind
  /// The envelope's code for `business`, the HTTP status for `status`, else the articles' -1212 (network),
  /// -1213 (parse), -1214 (parameters).
  public var code: Int
  /// What to show to the user: the server's message where it sent one, else the back end's for this kind.
  public var message: String
  /// What happened, for developers: names the offending value and the remedy.
  public var reason: String
  /// The request, if one could be built.
  public var request: Request?
  /// The response with its body, if one arrived.
  public var response: Response?
  /// The error behind this one.
  public var underlying: (any Error)?
  /// Where in the JSON a `parse` error lies, outermost first: `["data", "items", "0", "name"]`.
  public var codingPath: [String]
  /// Which step of a chain, page of a list or call of a group failed, counted from 0 (article row 1.13).
  public var index: Int?
  /// What the exchange had taken when it failed; `nil` where the transport measures nothing.
  public var metrics: TransferMetrics?
  /// Whether the back end's error handler has had it already.
  var isReported = false
  /// The rules of the back end it happened on, put there by the network.
  var rules: Rules?

  /// An error of `kind`; `code` and `message` default to what the articles give for that kind.
  public init(
    kind: Kind, code: Int? = nil, message: String? = nil, reason: String, request: Request? = nil,
    response: Response? = nil, underlying: (any Error)? = nil, codingPath: [String] = []
  ) {
    self.kind = kind
    self.code = code ?? Self.defaultCode(of: kind)
    self.message = message ?? Messages.localized.text(for: kind, status: response?.status)
    self.reason = reason
    self.request = request ?? response?.request
    self.response = response
    self.underlying = underlying
    self.codingPath = codingPath
  }

  /// Whether there was no answer for a reason that may be over soon: what a repetition may mend.
  var isTransient: Bool { [.connection, .unknownHost, .timeout].contains(kind) }

  /// The kind alone, without payload: safe for metrics.
  public var shortDescription: String { kind.rawValue }

  /// `error` itself if it is one of these, else one of kind `other` around it.
  static func wrapping(_ error: any Error, from response: Response? = nil, rules: Rules? = nil) -> NetworkError {
    if let known = error as? NetworkError { return known }
    let other = NetworkError(kind: .other, reason: "\(error)", response: response, underlying: error)
    return rules.map(other.ruled) ?? other
  }

  /// The same error with the request it is about.
  func about(_ request: Request) -> NetworkError {
    var error = self
    error.request = error.request ?? request
    return error
  }

  /// The same error with the message that the back end has for its kind, and the back end's rules. For errors from below
  /// the envelope only: above it, the server's own words may stand in the message.
  func ruled(by rules: Rules) -> NetworkError {
    var error = self
    error.message = rules.messages.text(for: kind, status: response?.status)
    error.rules = rules
    return error
  }

  static func defaultCode(of kind: Kind) -> Int {
    switch kind {
    case .parse: -1213
    case .encoding, .invalidRequest: -1214
    default: -1212
    }
  }
}

extension NetworkError: LocalizedError {
  /// The message for the user (article row 0.25).
  public var errorDescription: String? { message }
  /// The developer's reason, without secrets.
  public var failureReason: String? { redaction.text(reason) }
}

extension NetworkError: CustomNSError {
  /// The domain of the articles' `NSError`s (article row 0.24).
  public static var errorDomain: String { "com.example.networkerror" }
  /// The same as `code`.
  public var errorCode: Int { code }
  /// The localised description and failure reason, and the cause.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: redaction.text(reason),
    ]
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    return info
  }
}

extension NetworkError: CustomStringConvertible {
  /// Kind, code and reason on one line, and the attempt if it was not the first; without secrets, no body, no headers.
  public var description: String {
    "NetworkError(\(kind), \(code)): \(redaction.text(reason))\(request?.attemptNote ?? "")"
  }

  private var redaction: Redaction { rules?.redaction ?? .standard }
}
