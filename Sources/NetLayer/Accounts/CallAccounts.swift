import PortableFoundation
import Streams

/// The users of a call, read once when it begins. All requests of the call share this object. The present users are
/// asked one question only: whether those of the call are still signed in.
package final class CallAccounts: ContextKey, Sendable {
  package static var defaultValue: CallAccounts? { nil }

  typealias User = (source: any AccountSource, state: AccountState)
  // Most networks have one source, which needs no array. Apart, because a tuple would be copied.
  private let source: (any AccountSource)?
  private let state: AccountState
  private let others: [User]
  /// Whether the call belongs to nobody if nobody began it. Otherwise, the first user with whom it is sent becomes its user, as
  /// at the start of an app.
  private let isStrict: Bool
  /// Guards the first users of a call that nobody began, by their source, which attempts on any thread set.
  private let adopted = Locked<[ObjectIdentifier: AccountState]>([:])

  /// The present users, to whom a call belongs; `nil` for no source.
  package init?(_ sources: [any AccountSource]) {
    guard let source = sources.first else { return nil }
    (self.source, state) = (source, source.accountState)
    others = sources.count == 1 ? [] : sources.dropFirst().map { ($0, $0.accountState) }
    isStrict = false
  }

  init(strictly users: [User]) {
    (source, state) = (users.first?.source, users.first?.state ?? .nobody)
    (others, isStrict) = (users.count < 2 ? [] : Array(users.dropFirst()), true)
  }

  /// Returns the user of `source` as far as the call has one; `nil` for a source that did not cover it when it began.
  func user(of source: any AccountSource) -> AccountState? {
    guard let begun = begun(source) else { return isStrict ? .nobody : nil }
    guard isOpen(begun) else { return begun }
    return adopted.withLock { $0[ObjectIdentifier(source)] } ?? begun
  }

  /// Returns the user whose keys and credentials the call has. If nobody began it, a present user becomes its user.
  func adopting(_ source: any AccountSource) -> AccountState {
    guard let begun = begun(source), !isOpen(begun) else {
      let present = source.accountState
      return accepts(present, of: source) ? present : .unknown
    }
    return begun
  }

  /// Returns the user of `call`, or the present one for a request without a call.
  static func state(of source: any AccountSource, in call: CallAccounts?) -> AccountState {
    call?.adopting(source) ?? source.accountState
  }

  /// Returns whether the call may carry credentials of `state`. If nobody began it, that user becomes its user.
  func accepts(_ state: AccountState, of source: any AccountSource) -> Bool {
    // A source that did not cover the request at the start, when an interceptor has changed the URL.
    guard let begun = begun(source) else {
      return !isStrict || !state.isUser || source.accountChanges == nil || has(state)
    }
    guard isOpen(begun) else { return !state.differs(from: begun) }
    // An unknown user has become another one, which a sign-in before the first look is.
    if begun.user == .unknown, state.differs(from: begun) { return false }
    return adopted.withLock { states in
      if let former = states[ObjectIdentifier(source)] { return !state.differs(from: former) }
      if state.isUser { states[ObjectIdentifier(source)] = state }
      return true
    }
  }

  /// Returns whether a user began the call in the sign-in `number` of `source`, so that the names need no comparison.
  func began(in number: Int, of source: any AccountSource) -> Bool {
    self.source === source && state.isUser(since: number)
  }

  /// Checks that the call may carry credentials of `account`, which the interceptor `source` has passed.
  func check(_ account: String, of source: any AccountSource, _ request: Request) throws(NetworkError) {
    guard !accepts(.user(account), of: source) else { return }
    var error = Self.signedOut(request)
    if source.accountState.name != account, source.accountState == user(of: source) {
      // A token may be passed as the account, so it is not shown.
      error.reason =
        "\(type(of: source)) has passed credentials of another account than the user whom its accountState names; pass that "
        + "name as Request.Credentials.account"
    }
    throw error
  }

  func text(of request: Request) -> String {
    users.enumerated().compactMap { index, user in
      guard covers(user.source, request) else { return nil }
      return adopting(user.source).account.map { "\(index):\($0.utf8.count):\($0)" }
    }
    .joined()
  }

  /// The number of sources whose user the call has adopted, because nobody began it.
  var adoptions: Int { adopted.withLock { $0.count } }

  /// Returns whether the call may receive a response to a request of `other`. Everybody may receive a response of nobody.
  fileprivate func accepts(_ response: Response, of other: CallAccounts, isForeign: Bool) -> Bool {
    other.users.allSatisfy { user in
      guard let theirs = other.user(of: user.source), theirs.isUser, covers(user.source, response.request) else {
        return true
      }
      // A source of another network, perhaps a copy of this one.
      guard !isForeign, begun(user.source) != nil else { return false }
      // A call of nobody receives no response of a user who has signed out. Two sign-ins with the same token are of one user.
      let mine = adopting(user.source)
      return theirs == mine || mine.isUser && !theirs.differs(from: mine)
    }
  }

  /// Returns the error of `sent` if a user of the call has signed out. Returns `nil` if it may be sent, or receive a stored
  /// response.
  package func failure(of sent: Request) -> NetworkError? {
    if let source, hasChanged(source, state, sent) { return Self.signedOut(sent) }
    for user in others where hasChanged(user.source, user.state, sent) { return Self.signedOut(sent) }
    return nil
  }

  /// Returns whether a source has a user of that name, such as one that wraps another source.
  private func has(_ state: AccountState) -> Bool { state.name != nil && users.contains { $0.state == state } }

  private var users: [User] { (source.map { [($0, state)] } ?? []) + others }

  private func begun(_ source: any AccountSource) -> AccountState? {
    if self.source === source { return state }
    return others.first { $0.source === source }?.state
  }

  private func isOpen(_ state: AccountState) -> Bool { !isStrict && !state.isUser }

  /// Returns whether the user has changed, and the source covers the request. Few users change, so the latter is asked last.
  private func hasChanged(_ source: any AccountSource, _ begun: AccountState, _ sent: Request) -> Bool {
    let present = source.accountState
    guard isOpen(begun) else { return present.differs(from: begun) && covers(source, sent) }
    return covers(source, sent) && !accepts(present, of: source)
  }

  private func covers(_ source: any AccountSource, _ sent: Request) -> Bool {
    guard !sent.isForeign else { return false }
    // Without what interceptors have added, as the source has seen it.
    var request = sent
    for field in sent.credentials.flatMap(\.headers) where request.headers[field.name] == field.value {
      request.headers[field.name] = nil
    }
    return source.covers(request)
  }

  package static func signedOut(_ request: Request) -> NetworkError {
    var error = NetworkError(
      kind: .authentication,
      reason:
        "the user who began the call has signed out, and the call is not sent as another user; if both sign-ins are "
        + "of the same user, name that user (Token.account, AccountState.user)", request: request)
    error.context[IsOfAnotherAccount.self] = true
    return error
  }

  package static func foreign(_ response: Response) -> NetworkError {
    NetworkError(
      kind: .authentication,
      reason:
        "the response belongs to another user than the one who began the call: an interceptor has returned it; make its "
        + "keys of InterceptorChain.account(of:)", request: response.request)
  }
}

/// The users who may receive the responses to one request of a call.
struct CallReceivers: Sendable {
  /// `nil` for a network without sources, whose interceptors may return a response of another network.
  let call: CallAccounts?
  let isForeign: Bool

  /// Returns whether they may receive `response`, which an interceptor may have returned.
  func accept(_ response: Response) -> Bool {
    guard let theirs = response.requestContext[CallAccounts.self], theirs !== call || isForeign else { return true }
    return (call ?? CallAccounts(strictly: [])).accepts(response, of: theirs, isForeign: isForeign)
  }
}

/// A mark of errors: nothing was sent, because the user of the request is not the one who is signed in.
package enum IsOfAnotherAccount: ContextKey { package static let defaultValue = false }
