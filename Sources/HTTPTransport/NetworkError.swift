import PortableFoundation

/// The error of a call, with all known details of the failure.
public struct NetworkError: Error, Sendable, Equatable {
  /// The category of the failure.
  public var kind: Kind {
    get { fields.value.kind }
    set { fields.value.kind = newValue }
  }
  /// The code: the envelope's for `rejected`, the HTTP status for `status`, and otherwise -1213 (parse), -1214
  /// (parameters) or -1212 (all other kinds).
  public var code: Int {
    get { fields.value.code }
    set { fields.value.code = newValue }
  }
  /// The message for the user: the server's message if it sent one, or the description of an app's own `LocalizedError`.
  /// Otherwise the backend's message for this kind.
  public var message: String {
    get { fields.value.message }
    set { fields.value.message = newValue }
  }
  /// The reason for developers, with the offending value and the remedy. A user and a password of a URL are hidden, but it
  /// may contain other secrets of a URL or a body: log `description` or `failureReason`, which redact them.
  public var reason: String {
    get { fields.value.reason }
    set { fields.value.reason = Redaction.withoutUsers(newValue) }
  }
  /// The request, if it could be built.
  public var request: Request? {
    get { fields.value.request }
    set { fields.value.request = newValue }
  }
  /// The response with its body, if one arrived.
  public var response: Response? {
    get { fields.value.response }
    set { fields.value.response = newValue }
  }
  /// The error that caused this error.
  public var underlying: (any Error)? {
    get { fields.value.underlying }
    set { fields.value.underlying = newValue }
  }
  /// The position of a `parse` error in the JSON, outermost key first: `["data", "items", "0", "name"]`.
  public var codingPath: [String] {
    get { fields.value.codingPath }
    set { fields.value.codingPath = newValue }
  }
  /// The index of the failed step of a chain, page of a list or call of a group, counted from 0.
  public var index: Int? {
    get { fields.value.index }
    set { fields.value.index = newValue }
  }
  /// The measurements of the transfer until it failed; `nil` if the transport does not measure transfers.
  public var metrics: TransferMetrics? {
    get { fields.value.metrics }
    set { fields.value.metrics = newValue }
  }
  /// The values that interceptors and other layers attach to the error.
  public var context: Context {
    get { fields.value.context }
    set { fields.value.context = newValue }
  }
  /// The redaction applied to the error's texts.
  package var redaction: Redaction {
    get { fields.value.redaction }
    set { fields.value.redaction = newValue }
  }

  private struct Fields {
    var kind: Kind
    var code: Int
    var message: String
    var reason: String
    var request: Request?
    var response: Response?
    var underlying: (any Error)?
    var codingPath: [String]
    var index: Int?
    var metrics: TransferMetrics?
    var context = Context()
    var redaction = Redaction.standard
  }

  // In a box, because each function that may throw the error, and each result, would have room for it.
  private var fields: CopyOnWrite<Fields>

  /// Creates an error of `kind`. The kind determines the default `code` and `message`.
  public init(
    kind: Kind, code: Int? = nil, message: String? = nil, reason: String, request: Request? = nil,
    response: Response? = nil, underlying: (any Error)? = nil, codingPath: [String] = []
  ) {
    fields = CopyOnWrite(
      Fields(
        kind: kind, code: code ?? kind.defaultCode,
        message: message ?? Messages.localized.text(for: kind, status: response?.status),
        reason: Redaction.withoutUsers(reason),
        request: request ?? response?.request, response: response, underlying: underlying, codingPath: codingPath))
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
