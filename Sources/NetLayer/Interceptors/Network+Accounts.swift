import Streams

extension Network {
  /// The interceptors with a cache; the outermost one is the network's.
  package var caches: [CacheInterceptor] { backend.interceptors.compactMap { $0 as? CacheInterceptor } }

  /// Returns the present users of `request`, which is a request before interceptors change it.
  package func accounts(of request: Request) -> Accounts {
    var names = caches.compactMap { $0.account.map { $0(request) ?? "" } }
    for interceptor in interceptors where !(interceptor is any AccountSource) {
      if let name = interceptor.account(of: request) { names.append(name) }
    }
    return Accounts(of: request, accountSources, names: names)
  }

  /// Returns `content` as a call of the users who begin it now, so that none of its later requests is sent as another: a page,
  /// or a reconnection.
  func begun(_ content: CallContent) -> CallContent {
    guard !accountSources.isEmpty else { return content }
    var content = content
    content.context[CallAccounts.self] = CallAccounts(accountSources)
    return content
  }

  /// Returns the transport and the users of `request`, as a part of the keys under which responses are shared and stored.
  ///
  /// Of a source that records its credentials, the key has the account anyway; if there are several, their names may be equal.
  func sharingIdentity(of request: Request) -> TransportIdentity {
    guard accountSources.count > 1 || accountSources.first.map({ !($0 is any RecordsCredentials) }) ?? false else {
      return transportIdentity
    }
    let users = accountSources.enumerated().compactMap { index, source -> String? in
      guard source.covers(request) else { return nil }
      let state = source.accountState
      if source is any RecordsCredentials { return state.isUser ? "\(index)" : nil }
      return state.account.map { "\(index):\($0.utf8.count):\($0)" }
    }
    return users.isEmpty ? transportIdentity : transportIdentity.adding(users.joined())
  }

  /// Emits the users of `request` when all sources know them.
  package func knownAccounts(of request: Request) -> Single<Accounts> {
    .deferred { [self] in
      let accounts = accounts(of: request)
      let unknown = accounts.unknown
      guard !unknown.isEmpty else { return .just(accounts) }
      return Single.starting { for source in unknown { try await source.loadAccount() } }
        .map { [self] in self.accounts(of: request) }
    }
  }
}
