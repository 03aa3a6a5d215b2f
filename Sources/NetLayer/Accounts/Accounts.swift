import PortableFoundation
import Streams

/// The users of one request at one moment, according to the sources that cover it.
package struct Accounts: Sendable {
  /// The covering sources, in the order of the interceptors, with their states.
  private var users: [(source: any AccountSource, state: AccountState)]
  /// Those of all sources.
  private let all: [(source: any AccountSource, state: AccountState)]
  /// The accounts of a signer that is not a source, and of caches.
  private let names: [String]

  init(of request: Request, _ sources: [any AccountSource], names: [String] = []) {
    all = sources.map { ($0, $0.accountState) }
    users = all.filter { $0.source.covers(request) }
    self.names = names
  }

  /// The same as the users of a call, which is sent as nobody else, and with no token of another source.
  package var ofCall: CallAccounts { CallAccounts(strictly: users) }

  /// The same as the users of a call whose later requests may be covered by other sources, such as those of an upload.
  package var ofLongCall: CallAccounts { CallAccounts(strictly: all) }

  package var changing: [any AccountSource] { users.map(\.source).filter { $0.accountChanges != nil } }

  /// The state of the first source whose user may change, to whom a stored write belongs; `nil` for none.
  package var owner: AccountState? { users.first { $0.source.accountChanges != nil }?.state }

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

  package var hasUnnamedUser: Bool {
    users.contains { user in
      if case .unnamed = user.state.user { return user.source.accountChanges != nil }
      return false
    }
  }

  package func differs(from former: Accounts) -> Bool {
    guard names == former.names, users.count == former.users.count else { return true }
    return zip(users, former.users).contains { $0.source !== $1.source || $0.state.differs(from: $1.state) }
  }

  /// The same, in which a user who is unknown is still that of `former`.
  package func following(_ former: Accounts?) -> Accounts {
    guard let former, !unknown.isEmpty else { return self }
    var next = self
    next.users = users.map { user in
      user.state == .unknown ? former.users.first { $0.source === user.source } ?? user : user
    }
    return next
  }

  /// Returns whether `state` is that of another user of `source`.
  package func differ(from state: AccountState, of source: any AccountSource) -> Bool {
    users.contains { $0.source === source && state.differs(from: $0.state) }
  }

  /// Returns whether `call`, which began with the same sources, belongs to another user. One of nobody belongs to everybody.
  package func differ(from call: CallAccounts) -> Bool {
    users.contains { user in
      call.user(of: user.source).map { $0.isUser && $0 != user.state && user.state.differs(from: $0) } ?? false
    }
  }

  /// Returns whether another user has signed in or out since.
  package var haveChanged: Bool { users.contains { $0.source.accountState.differs(from: $0.state) } }

  private func text(_ parts: [String]) -> String { parts.map { "\($0.utf8.count):\($0)" }.joined() }
}

/// A function that returns whether a response is the rejection of credentials that are still the newest ones, so that
/// another refresh is useless; `nil` for no rejection.
package enum Refusal: ContextKey { package static let defaultValue: (@Sendable () -> Bool)? = nil }
