extension NetworkError {
  /// What sort of failure it was; a struct, so that a new kind breaks no `switch`.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The kind's name, as it appears in logs.
    public let rawValue: String

    /// A kind of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(_ known: Known) { rawValue = known.rawValue }

    /// The name.
    public var description: String { rawValue }

    /// The connection could not be made, or broke before the answer was complete.
    public static let connection = Kind(.connection)
    /// The host's name could not be resolved.
    public static let unknownHost = Kind(.unknownHost)
    /// The connect, idle, total or call time limit was reached.
    public static let timeout = Kind(.timeout)
    /// The caller cancelled.
    public static let cancelled = Kind(.cancelled)
    /// TLS could not be set up: certificate, host name, version.
    public static let tls = Kind(.tls)
    /// A redirect that must not be followed: too many, or to another scheme than http and https.
    public static let redirect = Kind(.redirect)
    /// The request itself is no valid HTTP request: scheme, host, method, header.
    public static let invalidRequest = Kind(.invalidRequest)
    /// The parameters could not be encoded; nothing was sent.
    public static let encoding = Kind(.encoding)
    /// A new token could not be got; the underlying error says why.
    public static let authentication = Kind(.authentication)
    /// The HTTP status is not a success.
    public static let status = Kind(.status)
    /// The envelope's code is not a success: the server refused, in its own words.
    public static let business = Kind(.business)
    /// The body is not what was asked for: malformed JSON, missing or wrong member.
    public static let parse = Kind(.parse)
    /// The body is larger than `maxBodySize` allows; a repetition would find it no smaller.
    public static let tooLarge = Kind(.tooLarge)
    /// A file could not be written: a download's, or a recording's.
    public static let file = Kind(.file)
    /// Nothing is stored, and the cache policy forbids to ask the server.
    public static let notCached = Kind(.notCached)
    /// The pages of a list would never end: a cursor came a second time, on the page that `index` says.
    public static let sequence = Kind(.sequence)
    /// A WebSocket was closed with a code other than 1000; the error's `code` is the close code (RFC 6455 §7.4).
    public static let closed = Kind(.closed)
    /// An error that is not the network layer's own; it is the underlying one.
    public static let other = Kind(.other)
  }
}

/// What the layer makes of each kind. A new kind is a new case of `Known`: the compiler then asks for every judgement.
extension NetworkError.Kind {
  enum Known: String, CaseIterable {
    case connection, unknownHost, timeout, cancelled, tls, redirect, invalidRequest, encoding, authentication, status
    case business, parse, tooLarge, file, notCached, sequence, closed, other
  }

  /// A kind of the user's own is judged as `other`.
  private var known: Known { Known(rawValue: rawValue) ?? .other }

  /// Whether there was no response for a reason that may be over soon: what a repetition may mend. `RetryInterceptor`,
  /// `WaitForNetwork` and the reconnection of event streams go by it.
  package var isTransient: Bool {
    switch known {
    case .connection, .unknownHost, .timeout: true
    case .cancelled, .tls, .redirect, .invalidRequest, .encoding, .authentication, .status, .business, .parse,
      .tooLarge,
      .file, .notCached, .sequence, .closed, .other:
      false
    }
  }

  /// Whether the server could not be asked, so that a cache may respond in its place.
  package var isOutage: Bool {
    switch known {
    case .connection, .unknownHost, .timeout, .tls, .redirect: true
    case .cancelled, .invalidRequest, .encoding, .authentication, .status, .business, .parse, .tooLarge, .file,
      .notCached, .sequence, .closed, .other:
      false
    }
  }

  /// Whether a stored response that fails in this way while it is read is itself to blame, and is to be asked for anew.
  package var discreditsStored: Bool {
    switch known {
    case .status, .business: false
    case .connection, .unknownHost, .timeout, .cancelled, .tls, .redirect, .invalidRequest, .encoding, .authentication,
      .parse, .tooLarge, .file, .notCached, .sequence, .closed, .other:
      true
    }
  }

  /// The articles' code for this kind (article row 0.24).
  var defaultCode: Int {
    switch known {
    case .parse: -1213
    case .encoding, .invalidRequest: -1214
    case .connection, .unknownHost, .timeout, .cancelled, .tls, .redirect, .authentication, .status, .business,
      .tooLarge,
      .file, .notCached, .sequence, .closed, .other:
      -1212
    }
  }

  /// The message for this kind; for `status`, the status chooses.
  func message(in messages: Messages, status: Int?) -> String {
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
    case .business: messages.badRequest
    case .redirect, .closed: messages.server
    case .sequence, .other: messages.other
    case .status:
      switch status ?? 0 {
      case 401: messages.authentication
      case 403: messages.forbidden
      case 404, 410: messages.notFound
      case 400...499: messages.badRequest
      case 500...: messages.server
      default: messages.other
      }
    }
  }
}
