import PortableFoundation

/// Why a call failed, with everything known about it: nothing is swallowed (article rows 0.4, 0.24, 1.11, 2.8, 2.18).
public struct NetworkError: Error, Sendable {
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
  /// What interceptors and other layers attach to it.
  public var context = Context()
  /// What its texts hide.
  package var redaction = Redaction.standard

  /// An error of `kind`; `code` and `message` default to what the articles give for that kind.
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

  /// The kind alone, without payload: safe for metrics.
  public var shortDescription: String { kind.rawValue }

  /// `error` itself if it is one of these, else one of kind `other` around it.
  package static func wrapping(_ error: any Error) -> NetworkError {
    (error as? NetworkError) ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
  }

  /// The same error with the request it is about.
  package func about(_ request: Request) -> NetworkError {
    var error = self
    error.request = error.request ?? request
    return error
  }
}

extension NetworkError: LocalizedError {
  /// The message for the user (article row 0.25).
  public var errorDescription: String? { message }
  /// The developer's reason, without secrets.
  public var failureReason: String? { redaction.text(reason) }
}

extension NetworkError: CustomStringConvertible {
  /// Kind, code and reason on one line, and the attempt if it was not the first; without secrets, no body, no headers.
  public var description: String {
    "NetworkError(\(kind), \(code)): \(redaction.text(reason))\(request?.attemptNote ?? "")"
  }
}
