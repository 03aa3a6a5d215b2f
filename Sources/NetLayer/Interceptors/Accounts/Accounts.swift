import PortableFoundation
import Streams

/// The users of one request at one moment, according to the sources that cover it.
package struct Accounts: Sendable {
  /// The covering sources, in the order of the interceptors, with their states.
  private let users: [(source: any AccountSource, state: AccountState)]
  /// The accounts that interceptors which are not sources return.
  private let names: [String]

  init(of request: Request, _ sources: [any AccountSource], names: [String] = []) {
    users = sources.filter { $0.covers(request) }.map { ($0, $0.accountState) }
    self.names = names
  }

  /// The sources whose user may change.
  package var changing: [any AccountSource] { users.map(\.source).filter { $0.accountChanges != nil } }

  /// The state of the first source whose user may change, to whom a stored write belongs; `nil` for none.
  package var owner: AccountState? { users.first { $0.source.accountChanges != nil }?.state }

  /// The sources whose user is not known yet.
  package var unknown: [any AccountSource] { users.filter { $0.state == .unknown }.map(\.source) }

  /// The accounts that never change within a query: those of interceptors that are not sources, and constant users.
  package var constant: String {
    text(names + users.filter { $0.source.accountChanges == nil }.map { $0.state.account ?? "" })
  }

  /// The text that stands for all users; empty for a request that nobody authenticates.
  package var text: String {
    // The place of a source is a part of it, because two sources may have equal names.
    let all = names + users.map { $0.state.account ?? "" }
    return all.isEmpty ? "" : text(all)
  }

  /// Whether a user who may change has no name.
  package var hasUnnamedUser: Bool {
    users.contains { user in
      if case .unnamed = user.state.user { return user.source.accountChanges != nil }
      return false
    }
  }

  /// Returns whether another user has signed in or out since `former`.
  package func differs(from former: Accounts) -> Bool {
    guard names == former.names, users.count == former.users.count else { return true }
    return zip(users, former.users).contains { $0.source !== $1.source || $0.state.differs(from: $1.state) }
  }

  /// Returns whether another user has signed in or out since.
  package var haveChanged: Bool { users.contains { $0.source.accountState.differs(from: $0.state) } }

  private func text(_ parts: [String]) -> String { parts.map { "\($0.utf8.count):\($0)" }.joined() }
}

/// The users who began a call. The call is not sent as another user, although an interceptor may pause it for long.
package struct CallAccounts: ContextKey, Sendable {
  package static let defaultValue: CallAccounts? = nil

  private typealias User = (source: any AccountSource, state: AccountState)
  // Most networks have one source, which needs no array.
  private let first: User
  private let others: [User]
  /// The first users of a call that nobody began; `nil` for a call that users began. All requests of the call share it.
  private let adopted: FirstUsers?

  private final class FirstUsers: Sendable {
    /// Guards the users, by their source, which attempts on any thread set.
    let states = Locked<[ObjectIdentifier: AccountState]>([:])
  }

  /// The present users, to whom a call belongs; `nil` for no source.
  ///
  /// - Parameter isStrict: Whether a call that nobody began belongs to nobody. Otherwise, the first user with whom it is sent
  ///   becomes its user, as at the start of an app.
  package init?(_ sources: [any AccountSource], isStrict: Bool = false) {
    guard let source = sources.first else { return nil }
    first = (source, source.accountState)
    others = sources.count == 1 ? [] : sources.dropFirst().map { ($0, $0.accountState) }
    let isOpen = !isStrict && (!first.state.isUser || others.contains { !$0.state.isUser })
    adopted = isOpen ? FirstUsers() : nil
  }

  /// Returns the error of `sent` if another user has signed in or out since; `nil` if it may be sent.
  func failure(of sent: Request) -> NetworkError? {
    if hasChanged(first, sent) { return Self.signedOut(sent) }
    for user in others where hasChanged(user, sent) { return Self.signedOut(sent) }
    return nil
  }

  /// Returns whether the user has changed, and the source covers the request. Few users change, so the latter is asked last.
  private func hasChanged(_ user: User, _ sent: Request) -> Bool {
    let present = user.source.accountState
    guard let adopted, !user.state.isUser else {
      return present.differs(from: user.state) && covers(user.source, sent)
    }
    // An unknown user has become another one, which a sign-in before the first look is.
    if user.state == .unknown, present.differs(from: user.state) { return covers(user.source, sent) }
    guard covers(user.source, sent) else { return false }
    let former = adopted.states.withLock { states in
      let former = states[ObjectIdentifier(user.source)]
      if former == nil, present.isUser { states[ObjectIdentifier(user.source)] = present }
      return former
    }
    return former.map { present.differs(from: $0) } ?? false
  }

  private func covers(_ source: any AccountSource, _ sent: Request) -> Bool {
    // Without what interceptors have added, as the source has seen it.
    var request = sent
    for field in sent.credentials.flatMap(\.headers) where request.headers[field.name] == field.value {
      request.headers[field.name] = nil
    }
    return source.covers(request)
  }

  /// The error of a request whose user has signed out.
  package static func signedOut(_ request: Request) -> NetworkError {
    var error = NetworkError(
      kind: .authentication,
      reason:
        "the user who began the call has signed out, and the call is not sent as another user; if both sign-ins are "
        + "of the same user, name that user (Token.account, AccountState.user)", request: request)
    error.context[RequiredAccount.self] = request.context[RequiredAccount.self]
    return error
  }
}

/// The account whose credentials a stored request must carry, which is `nil` for no credentials; `nil` if any will do. An
/// error with this value means that nothing was sent.
package enum RequiredAccount: ContextKey {
  package static let defaultValue: String?? = nil
}

/// A function that returns whether a response is the rejection of credentials that are still the newest ones, so that
/// another refresh is useless; `nil` for no rejection.
package enum Refusal: ContextKey {
  package static let defaultValue: (@Sendable () -> Bool)? = nil
}
