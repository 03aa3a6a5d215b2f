import PortableFoundation
import Streams

extension OutboxState.Outcome {
  /// Creates the outcome of an attempt.
  ///
  /// - Parameters:
  ///   - sources: The sources that know whether the server has rejected the user; empty for an entry of no user.
  ///   - now: The time to which a `Retry-After` refers.
  init(_ result: Result<Response, NetworkError>, rejectedBy sources: [any AccountSource], now: Date) {
    let response = (try? result.get()) ?? result.failure?.response
    // An error of a refresh has the response that caused it.
    let isOfRefresh = result.failure.map { $0.kind == .authentication || $0.isOfUnfinishedRefresh } ?? false
    if let response, !isOfRefresh, sources.contains(where: { $0.rejects(response) }) {
      self = response.context[Refusal.self]?() == true ? .refused : .unauthenticated
    } else if let error = result.failure {
      self.init(error, ofUser: !sources.isEmpty, now)
    } else {
      self = .accepted
    }
  }

  private init(_ error: NetworkError, ofUser: Bool, _ now: Date) {
    if error.context[IsOfUnknownAccount.self] {
      self = .unknownAccount(error)
      return
    }
    if error.context[IsOfAnotherAccount.self] {
      self = .otherAccount
      return
    }
    switch error.kind {
    // Not sent, or rejected with a token that could not be replaced: no attempt at the entry.
    case _ where error.isOfUnfinishedRefresh: self = .unreachable(error)
    case .status:
      let status = error.response?.status ?? 0
      // The first request may still run (409), and the others ask to send again (RFC 9110 §15.5.9, RFC 8470 §5.2,
      // RFC 6585 §4).
      let mayPass = status == 409 || Response.isPassing(status)
      // A redirect that was not followed leads to another request.
      if status >= 300, !mayPass {
        self = .rejected(status: status)
      } else {
        self = .failed(error, after: error.retryAfter(now: now))
      }
    // A redirect that can't be followed.
    case .rejected, .redirect: self = .rejected(status: error.response?.status)
    // Never sent, and the next attempt would fail, too.
    case .invalidRequest, .encoding: self = .rejected(status: nil)
    // A file is that of the token store, which a locked device can't read.
    case .connection, .unknownHost, .timeout, .tls, .file, .unavailable: self = .unreachable(error)
    // No sign-in would be signalled for an entry of no user.
    case .authentication: self = ofUser ? .unauthenticated : .rejected(status: error.response?.status)
    default: self = .failed(error)
    }
  }
}

/// A mark of errors: the account is not known yet, because a token store can't be read now.
enum IsOfUnknownAccount: ContextKey { static let defaultValue = false }

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
