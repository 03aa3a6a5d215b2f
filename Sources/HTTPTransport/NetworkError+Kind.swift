extension NetworkError {
  /// The category of an error. A struct, so that a new kind does not break the `switch` statements of users.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name, as it appears in logs.
    public let rawValue: String

    /// Creates a custom kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(_ known: Known) { rawValue = known.rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The connection could not be established, or was lost before the response was complete.
    public static let connection = Kind(.connection)
    /// The host's name could not be resolved.
    public static let unknownHost = Kind(.unknownHost)
    /// The connect, idle, attempt or call time limit was reached.
    public static let timeout = Kind(.timeout)
    /// The caller cancelled the request.
    public static let cancelled = Kind(.cancelled)
    /// TLS could not be established, for example because of the certificate, host name or version.
    public static let tls = Kind(.tls)
    /// A redirect could not be followed: one too many, as in a loop, or one to http from https or to another scheme.
    public static let redirect = Kind(.redirect)
    /// The request is not a valid HTTP request, for example because of its scheme, host, method or a header field.
    public static let invalidRequest = Kind(.invalidRequest)
    /// The parameters could not be encoded; nothing was sent.
    public static let encoding = Kind(.encoding)
    /// The token server rejected the refresh, with the cause in `underlying`, or another user has signed in during the call. If
    /// the token server is down, the error has its kind instead, such as `connection`.
    public static let authentication = Kind(.authentication)
    /// The HTTP status is not a success (200 to 299).
    public static let status = Kind(.status)
    /// The code of the envelope is not a success: the server rejected the request.
    public static let rejected = Kind(.rejected)
    /// The response could not be read: it is not valid HTTP, its content coding fails, or its body is not of the requested
    /// type, for example because of malformed JSON, or a missing or mismatched member. A retry would not succeed.
    public static let parse = Kind(.parse)
    /// A limit is exceeded, such as `maxBodySize` by a response, or the size of an upload or an outbox. An immediate retry
    /// would not succeed.
    public static let tooLarge = Kind(.tooLarge)
    /// A file could not be read or written, such as a download, a token file or a recording.
    public static let file = Kind(.file)
    /// Nothing was sent, because the server has failed recently or a limit leaves no place in time; `retryAfter` is the time until
    /// the next try.
    public static let unavailable = Kind(.unavailable)
    /// No entry is cached, and the cache policy forbids a request.
    public static let notCached = Kind(.notCached)
    /// The pages of a list do not end: the cursor of the page `index` has already occurred.
    public static let repeatedPage = Kind(.repeatedPage)
    /// A WebSocket was closed with an unexpected code, which is the error's `code` (RFC 6455 §7.4).
    public static let socketClosed = Kind(.socketClosed)
    /// A file or directory is in use: another subscription or another process works with it. Nothing was sent.
    public static let fileInUse = Kind(.fileInUse)
    /// The request may have been processed, but the server no longer knows: it has to be checked before it is sent again.
    public static let unknownOutcome = Kind(.unknownOutcome)
    /// An error of another library, which is in `underlying`.
    public static let other = Kind(.other)
  }
}

/// The properties of each kind. A new kind is a new case of `Known`, and the compiler requires every property for it.
extension NetworkError.Kind {
  enum Known: String, CaseIterable {
    case connection, unknownHost, timeout, cancelled, tls, redirect, invalidRequest, encoding, authentication, status
    case rejected, parse, tooLarge, file, notCached, repeatedPage, socketClosed, fileInUse, unknownOutcome
    case unavailable, other
  }

  /// The known kind; `other` for custom kinds.
  private var known: Known { Known(rawValue: rawValue) ?? .other }

  /// Whether the failure is transient (connection, DNS, timeout, unavailable), so that a retry may succeed. Used by
  /// `RetryInterceptor`, `ReachabilityInterceptor` and the reconnection of event streams.
  package var isTransient: Bool {
    switch known {
    case .connection, .unknownHost, .timeout, .unavailable: true
    case .cancelled, .tls, .redirect, .invalidRequest, .encoding, .authentication, .status, .rejected, .parse,
      .tooLarge, .file, .notCached, .repeatedPage, .socketClosed, .fileInUse, .unknownOutcome, .other:
      false
    }
  }

  /// Whether the server could not be reached, so that a cache may respond instead.
  package var isOutage: Bool {
    switch known {
    case .connection, .unknownHost, .timeout, .tls, .redirect, .unavailable: true
    case .cancelled, .invalidRequest, .encoding, .authentication, .status, .rejected, .parse, .tooLarge, .file,
      .notCached, .repeatedPage, .socketClosed, .fileInUse, .unknownOutcome, .other:
      false
    }
  }

  /// Whether a stored response whose reading fails with this kind is invalid and must be requested again.
  package var discreditsStored: Bool {
    switch known {
    case .status, .rejected: false
    case .connection, .unknownHost, .timeout, .cancelled, .tls, .redirect, .invalidRequest, .encoding, .authentication,
      .parse, .tooLarge, .file, .notCached, .repeatedPage, .socketClosed, .fileInUse, .unknownOutcome, .unavailable,
      .other:
      true
    }
  }

  /// The code of an error that is created without one: -1213 if the response can't be parsed, -1214 if the request
  /// can't be created, and -1212 for all other kinds.
  var defaultCode: Int {
    switch known {
    case .parse: -1213
    case .encoding, .invalidRequest: -1214
    case .connection, .unknownHost, .timeout, .cancelled, .tls, .redirect, .authentication, .status, .rejected,
      .tooLarge, .file, .notCached, .repeatedPage, .socketClosed, .fileInUse, .unknownOutcome, .unavailable, .other:
      -1212
    }
  }

  /// Returns the message for this kind; for `status`, the status selects the message.
  func message(in messages: NetworkError.Messages, status: Int?) -> String {
    switch known {
    case .connection, .unknownHost: messages.network
    case .timeout: messages.timeout
    case .cancelled: messages.cancelled
    case .tls: messages.tls
    case .invalidRequest, .encoding: messages.parameter
    case .authentication: messages.authentication
    case .parse, .tooLarge: messages.parse
    case .file: messages.file
    case .notCached: messages.notCached
    case .fileInUse: messages.fileInUse
    case .unknownOutcome: messages.unknownOutcome
    case .rejected: messages.badRequest
    case .redirect, .socketClosed, .unavailable: messages.server
    case .repeatedPage, .other: messages.other
    case .status:
      switch status ?? 0 {
      case 401: messages.authentication
      case 403: messages.forbidden
      case 404, 410: messages.notFound
      case 408: messages.timeout
      case 429: messages.tooManyRequests
      case 400...499: messages.badRequest
      case 500...: messages.server
      default: messages.other
      }
    }
  }
}
