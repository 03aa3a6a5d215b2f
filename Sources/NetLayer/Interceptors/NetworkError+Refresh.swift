import HTTPTransport
import Streams

/// Tells whether the user was refused or the token server was down: the guide <doc:AuthenticatingRequests> has the
/// table.
extension NetworkError {
  /// Whether the error is that of a token refresh and says nothing about the user: the token server was down, or the refresh was
  /// not begun. The request was not sent, or the API rejected its token. `response` is that of the token server.
  package var isOfUnfinishedRefresh: Bool {
    get { context[UnfinishedRefresh.self] }
    set { context[UnfinishedRefresh.self] = newValue }
  }

  /// Returns the error of the calls that wait for a refresh.
  static func ofRefresh(_ error: any Error) -> NetworkError {
    let isLate = (error as? StreamError) == .timeout
    let cause = isLate ? NetworkError(kind: .timeout, reason: "\(error)") : .wrapping(error)
    let status = cause.response?.status ?? cause.code
    let isPassing = cause.kind == .status && Response.isPassing(status)
    let isDown = cause.kind.isOutage || isPassing
    let isOutage = isDown && !cause.endsSession
    let reason = "the token could not be refreshed: \((error as? NetworkError)?.description ?? "\(error)")"
    var failure = NetworkError(
      kind: isOutage ? cause.kind : .authentication, code: isOutage && cause.kind == .status ? status : nil,
      message: cause.words, reason: reason, response: cause.response, underlying: error)
    failure.isOfUnfinishedRefresh = isOutage
    failure.endsSession = cause.endsSession
    return failure
  }

  static var signedOutDuringRefresh: NetworkError {
    var error = NetworkError(kind: .authentication, reason: "signed out while the token was being refreshed")
    error.isOfUnfinishedRefresh = true
    return error
  }

  /// Returns the error of a call whose token is not refreshed after unsuccessful refreshes. It is that of the last one if all of
  /// them met a token server that was down.
  static func ofRefreshes(_ outages: [NetworkError?], within window: Double) -> NetworkError {
    let limit = "\(outages.count) refreshes within \(Duration(clampingSeconds: window).text)"
    let last = outages.last ?? nil
    let outage = outages.contains { $0 == nil } ? nil : last
    let reason =
      outage.map { "\($0.reason); not refreshed again after \(limit)" }
      ?? "the server still rejects the token after \(limit); sign in again, or raise maxRefreshes"
    var error = outage ?? NetworkError(kind: .authentication, reason: reason)
    error.reason = reason
    error.isOfUnfinishedRefresh = true
    return error
  }

  /// The temporary status with which the token server has responded; `nil` for all other errors.
  var statusOfTokenServer: Int? {
    isOfUnfinishedRefresh && kind == .status && Response.isPassing(code) ? code : nil
  }

  /// Whether the failure is transient, so that a retry may succeed: kind `connection`, `unknownHost`, `timeout` or `unavailable`,
  /// or a token server that is down. An interceptor receives a response of the API itself as a response, not as an error.
  public var isTransient: Bool { kind.isTransient || statusOfTokenServer != nil }

  /// Whether the user's session has ended, so that no refresh with the same token can succeed. Set it in the `refresh` closure
  /// of an ``AuthenticationInterceptor``, for example after `invalid_grant` (RFC 6749 §5.2).
  ///
  /// The interceptor then reads the store again. It uses a token that another process has saved meanwhile, or else removes the
  /// token: the user is signed out. The calls fail with kind `authentication` and the message of this error.
  public var endsSession: Bool {
    get { context[EndedSession.self] }
    set { context[EndedSession.self] = newValue }
  }
}

private enum UnfinishedRefresh: ContextKey { static let defaultValue = false }

private enum EndedSession: ContextKey { static let defaultValue = false }
