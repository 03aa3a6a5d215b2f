import PortableFoundation
import Streams

// The only room, with Accounts, that asks who is signed in now. All others compare with the users of the call.
extension Network {
  /// The interceptors with a cache; the outermost one is the network's.
  package var caches: [CacheInterceptor] { backend.interceptors.compactMap { $0 as? CacheInterceptor } }

  /// Returns the present users of `request`, which is a request before interceptors change it.
  package func accounts(of request: Request) -> Accounts {
    var names = caches.compactMap { $0.account.map { $0(request) ?? "" } }
    if !(backend.signer is any AccountSource), let name = signerAccount(of: request) { names.append(name) }
    return Accounts(of: request, accountSources, names: names)
  }

  /// The name of the present user after each change of a source; `nil` for nobody, and for a user without a name.
  package var accountChanges: Observable<String?> {
    .merge(
      accountSources.compactMap { source in
        source.accountChanges?.map { [weak source] in source?.accountState.name }
      })
  }

  /// Returns `request` as one of a call that begins now.
  package func begun(_ request: Request) -> Request {
    guard let accounts = CallAccounts(accountSources) else { return request }
    var request = request
    request.context[CallAccounts.self] = accounts
    return request
  }

  /// Returns `content` as a call of the users who begin it now, so that none of its later requests is sent as another: a page,
  /// or a reconnection.
  package func begun(_ content: CallContent) -> CallContent {
    guard let accounts = CallAccounts(accountSources) else { return content }
    var content = content
    content.context[CallAccounts.self] = accounts
    return content
  }

  /// Returns the users who may receive the responses to `request`.
  func receivers(of request: Request) -> CallReceivers {
    CallReceivers(call: request.context[CallAccounts.self], isForeign: request.isForeign)
  }

  /// Returns the error of `request` if a user of its call has signed out since; `nil` if it may be sent, or receive a stored
  /// response.
  func signOut(of request: Request) -> NetworkError? {
    logins.isEmpty ? nil : request.context[CallAccounts.self]?.failure(of: request)
  }

  /// Returns the accounts with which the interceptors from `place` on, and the signer, will authenticate `request`; `nil` for
  /// none.
  ///
  /// - Parameter end: The place before which the interceptors end; `nil` for all, and the signer.
  func account(of request: Request, from place: Int, to end: Int? = nil, isAsked: Bool = true) -> String? {
    guard !logins.isEmpty || backend.signerAccount != nil else { return nil }
    let call = request.context[CallAccounts.self]
    var accounts: [String] = []
    for login in logins where login.authenticates(request, from: place, to: end ?? .max, isAsked: isAsked) {
      if let account = login.state(in: call).account { accounts.append(account) }
    }
    if end == nil, let account = signerAccount(of: request) { accounts.append(account) }
    return Request.Credentials.joined(accounts)
  }

  /// Returns the account whose key signs `request`; `nil` without a signer.
  func signerAccount(of request: Request) -> String? {
    guard let constant = backend.signerAccount, let signing = request.context[Signing.self] else { return nil }
    return signing.account(of: request) ?? constant
  }

  /// Returns the transport and the users of `request`, as a part of the keys under which responses are shared and stored.
  ///
  /// Of a source that records its credentials, the key has the account anyway; if there are several, their names may be equal.
  func sharingIdentity(of request: Request) -> TransportIdentity {
    guard logins.count > 1 || logins.first.map({ $0.recorder == nil }) ?? false else { return transportIdentity }
    let users = users(of: request)
    return users.isEmpty ? transportIdentity : transportIdentity.adding(users)
  }

  private func users(of request: Request) -> String {
    let call = request.context[CallAccounts.self]
    return logins.enumerated().compactMap { index, login -> String? in
      guard login.source.covers(request) else { return nil }
      let state = login.state(in: call)
      if login.recorder != nil { return state.isUser ? "\(index)" : nil }
      return state.account.map { "\(index):\($0.utf8.count):\($0)" }
    }
    .joined()
  }

  /// Returns a text that stands for the users of `request`, without their names and tokens; `nil` for nobody.
  ///
  /// - Throws: `NetworkError` of kind `authentication` if a user of the call has signed out.
  func accountDigest(of request: Request) throws(NetworkError) -> String? {
    if let failure = signOut(of: request) { throw failure }
    let call = request.context[CallAccounts.self] ?? CallAccounts(accountSources)
    var text = call?.text(of: request) ?? ""
    // A signer that is not a source.
    if !(backend.signer is any AccountSource), let account = request.context[Signing.self]?.signer.account {
      text += "signer:\(account)"
    }
    return text.isEmpty ? nil : HTTPDigest.sha256(Data(text.utf8)).hex
  }

  /// Emits the users of `request` when all sources know them.
  ///
  /// A source knows its user when `loadAccount()` has returned, or when a sign-in has replaced what it was waiting for.
  package func knownAccounts(of request: Request) -> Single<Accounts> {
    .deferred { [self] in
      let accounts = accounts(of: request)
      let unknown = accounts.unknown
      guard !unknown.isEmpty else { return .just(accounts) }
      // The changes first, so that none is missed, then a look at what has changed before.
      let changes = unknown.compactMap(\.accountChanges) + [.just(())]
      let signedIn = Observable.merge(changes).filter { [self] in self.accounts(of: request).unknown.isEmpty }
      let loaded = Single.starting { for source in unknown { try await source.loadAccount() } }
      let limit = request.timeouts.attempt ?? .seconds(60)
      let names = unknown.map { "\(type(of: $0))" }.joined(separator: ", ")
      let late = NetworkError(
        kind: .timeout,
        reason:
          "loadAccount() of \(names) has not returned within \(limit.text); check the store that it waits for, or sign in",
        request: request)
      return Observable.merge([signedIn, loaded.asObservable()]).take(1)
        .timeout(limit, other: .error(late), scheduler: backend.clock)
        .map { [self] in self.accounts(of: request) }.asSingle()
    }
  }
}

/// A source of a network.
struct AccountLogin: Sendable {
  /// The place of its interceptor in the chain; `nil` for a signer and a transport.
  let place: Int?
  let source: any AccountSource
  /// The same, if it records its credentials in each request.
  let recorder: (any RecordsCredentials)?
  /// Returns the sources of a backend: interceptors in order, then the signer and the transport.
  static func all(of backend: Backend) -> [AccountLogin] {
    let interceptors = backend.interceptors.enumerated().compactMap { place, interceptor in
      (interceptor as? any AccountSource).map {
        AccountLogin(place: place, source: $0, recorder: $0 as? any RecordsCredentials)
      }
    }
    return interceptors
      + [backend.signer as? any AccountSource, backend.transport as? any AccountSource].compactMap(\.self)
      .map { AccountLogin(place: nil, source: $0, recorder: nil) }
  }

  /// Returns whether it is an interceptor of these places that will add credentials to `request`.
  ///
  /// - Parameter isAsked: Whether a source that waits for a challenge counts only after it.
  func authenticates(_ request: Request, from start: Int, to end: Int, isAsked: Bool) -> Bool {
    guard let place, place >= start, place < end, source.covers(request) else { return false }
    return !isAsked || recorder?.authenticates(request) ?? true
  }

  /// Returns the user of the call, or the present one without a call.
  func state(in call: CallAccounts?) -> AccountState { CallAccounts.state(of: source, in: call) }
}
