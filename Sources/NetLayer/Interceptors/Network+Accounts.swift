import PortableFoundation
import Streams

// The only room, with Accounts, that asks who is signed in now. All others compare with the users of the call.
extension Network {
  /// The interceptors with a cache; the outermost one is the network's.
  package var caches: [CacheInterceptor] { backend.interceptors.compactMap { $0 as? CacheInterceptor } }

  /// Returns the present users of `request`, which is a request before interceptors change it.
  package func accounts(of request: Request) -> Accounts {
    var names = caches.compactMap { $0.account.map { $0(request) ?? "" } }
    if let name = logins.signerAccount(of: request), !(backend.signer is any AccountSource) { names.append(name) }
    return Accounts(of: request, accountSources, names: names)
  }

  /// The changes of each source, as the name of its present user; `nil` for nobody, and for a user without a name.
  package var accountChanges: [Observable<String?>] {
    accountSources.compactMap { $0.accountStates?.map(\.name) }
  }

  package func begun(_ request: Request) -> Request {
    guard let accounts = CallAccounts(accountSources) else { return request }
    var request = request
    request.context[CallAccounts.self] = accounts
    return request
  }

  /// Returns `content` as a call of the users who begin it now, with their calling context, so that none of its later requests is
  /// sent as another: a page, or a reconnection.
  package func begun(_ content: CallContent) -> CallContent {
    var content = capturingContext(content)
    if let accounts = CallAccounts(accountSources) { content.context[CallAccounts.self] = accounts }
    return content
  }

  /// Returns the transport and the users of `request`, as a part of the keys under which responses are shared and stored.
  func sharingIdentity(of request: Request) -> TransportIdentity {
    let users = logins.text(of: request)
    return users.isEmpty ? transportIdentity : transportIdentity.adding(users)
  }

  /// Emits the users of `request` when all sources know them.
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

extension AccountSource {
  /// The state at each change, because the user may be back when a query or an outbox has time for it.
  package var accountStates: Observable<AccountState>? {
    accountChanges?.map { [weak self] in self?.accountState ?? .unknown }
  }
}
