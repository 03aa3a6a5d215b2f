import PortableFoundation
import Streams

extension OutboxSender {
  /// Emits `content`, which is then sent as its user only, and the sources that cover it and whose user may change.
  ///
  /// - Throws: An error with `IsOfAnotherAccount` if another user is signed in, or none. The same if no source covers the
  ///   entry of a user, such as after a change of the base URL. Of kind `file` if the user is still unknown.
  func ofItsUser(_ entry: OutboxEntry, _ content: CallContent) -> Single<(CallContent, [any AccountSource])> {
    guard entry.account != nil || !network.accountSources.isEmpty else { return .just((content, [])) }
    return .deferred { [self] in
      let request = try network.builder.request(for: content)
      let known = network.knownAccounts(of: request).mapError {
        Self.unknownAccount("it has failed: \($0)", request, $0)
      }
      return known.map { accounts in
        guard accounts.unknown.isEmpty else { throw Self.unknownAccount("the user is unknown after it", request) }
        guard accounts.owner?.name == entry.account else { throw CallAccounts.signedOut(request) }
        var content = content
        content.context[CallAccounts.self] = accounts.ofCall
        return (content, accounts.changing)
      }
    }
  }

  /// The error of a token store that can't be read now. A sign-in ends the pause after it.
  private static func unknownAccount(_ problem: String, _ request: Request, _ cause: (any Error)? = nil) -> NetworkError
  {
    var error = NetworkError(
      kind: .file,
      reason: "the account of an outbox entry must be known after loadAccount() of its AccountSource, but \(problem)",
      request: request, underlying: cause)
    error.context[IsOfUnknownAccount.self] = true
    return error
  }
}
