import PortableFoundation

/// The error of a call, with all known details of the failure.
public struct NetworkError: Error, Sendable, Equatable {
  /// The category of the failure.
  public var kind: Kind
  /// The code: the envelope's for `rejected`, the HTTP status for `status`, and otherwise -1213 (parse), -1214
  /// (parameters) or -1212 (all other kinds).
  public var code: Int
  /// The message for the user: the server's message if it sent one, or the description of an app's own `LocalizedError`.
  /// Otherwise the backend's message for this kind.
  public var message: String
  /// The reason for developers, with the offending value and the remedy. It may contain secrets of a URL or a body: log
  /// `description` or `failureReason`, which redact them.
  public var reason: String
  /// The request, if it could be built.
  public var request: Request?
  /// The response with its body, if one arrived.
  public var response: Response?
  /// The error that caused this error.
  public var underlying: (any Error)?
  /// The position of a `parse` error in the JSON, outermost key first: `["data", "items", "0", "name"]`.
  public var codingPath: [String]
  /// The index of the failed step of a chain, page of a list or call of a group, counted from 0.
  public var index: Int?
  /// The measurements of the transfer until it failed; `nil` if the transport does not measure transfers.
  public var metrics: TransferMetrics?
  /// The values that interceptors and other layers attach to the error.
  public var context = Context()
  /// The redaction applied to the error's texts.
  package var redaction = Redaction.standard

  /// Creates an error of `kind`. The kind determines the default `code` and `message`.
  public init(
    kind: Kind, code: Int? = nil, message: String? = nil, reason: String, request: Request? = nil,
    response: Response? = nil, underlying: (any Error)? = nil, codingPath: [String] = []
  ) {
    self.kind = kind
    self.code = code ?? kind.defaultCode
    self.message = message ?? Messages.localized.text(for: kind, status: response?.status)
    self.reason = reason
    self.request = request ?? response?.request
    self.response = response
    self.underlying = underlying
    self.codingPath = codingPath
  }

  /// Returns `error` itself if it is a `NetworkError`, otherwise an error of kind `other` that wraps it.
  ///
  /// A `CancellationError`, of a task that the call waited for, becomes an error of kind `cancelled`.
  package static func wrapping(_ error: any Error) -> NetworkError {
    if let error = error as? NetworkError { return error }
    if error is CancellationError {
      return NetworkError(kind: .cancelled, reason: "a task that the call waited for was cancelled", underlying: error)
    }
    let words = (error as? any LocalizedError)?.errorDescription
    return NetworkError(kind: .other, message: words, reason: "\(error)", underlying: error)
  }

  /// Returns the error with `request`, unless it already has a request.
  package func about(_ request: Request) -> NetworkError {
    var error = self
    error.request = error.request ?? request
    return error
  }

  /// Returns whether kind, code, message, reason and the status of the response are equal.
  public static func == (a: NetworkError, b: NetworkError) -> Bool {
    a.kind == b.kind && a.code == b.code && a.message == b.message && a.reason == b.reason
      && a.response?.status == b.response?.status
  }
}

extension NetworkError: LocalizedError {
  /// The message for the user.
  public var errorDescription: String? { message }
  /// The reason for developers on one line, without secrets. Control characters are visible, as in `\u{1B}`.
  public var failureReason: String? { shownReason }
  private var shownReason: String { redaction.redacted(reason).escapingControls() }
}

extension NetworkError: CustomStringConvertible {
  /// The kind, code and reason on one line, and the attempt if it was not the first; without secrets, body and header
  /// fields. Control characters, which may come from a server, are visible: `\n`, `\u{1B}`.
  public var description: String {
    "NetworkError(\(kind), \(code)): \(shownReason)\(request?.attemptNote ?? "")"
  }
}
