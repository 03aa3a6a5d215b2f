import Streams

/// The interceptor that adds the backend's signature to each attempt. It follows all interceptors of the backend.
struct SigningInterceptor: Interceptor {
  let account: String

  func captureContext(into request: inout Request) { request.markRefresh() }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard let signing = request.context[Signing.self] else { return next(request) }
    let reading = next.network.reading
    let mapping = next.mapping
    let signed = { @Sendable (former: Request, sign: @escaping @Sendable () async throws -> Request) in
      signature(of: former, by: signing, sign)
        .mapError { reading.translated(NetworkError.wrapping($0)) }
        .observeOn(mapping)
    }
    return signed(request) { try await signing.sign(request) }.flatMap { result in
      var result = result
      result.context[RedirectCredentials.self].append { redirected, _ in
        signed(redirected) { try await signing.sign(redirected, redirectedFrom: request) }
      }
      return next(result)
    }
  }

  /// Returns the request that `sign` returns, with its credentials. `former` may be signed, too.
  private func signature(
    of former: Request, by signing: Signing, _ sign: @escaping @Sendable () async throws -> Request
  ) -> Observable<Request> {
    let isPartOfRefresh = former.context[IsPartOfRefresh.self]
    return Single.starting { [account] in
      var signed = try await IsPartOfRefresh.$isRefreshing.withValue(isPartOfRefresh) { try await sign() }
      let signature = signed.context[Signed.self]?.signature
      if let named = signature?.account, let source = signing.signer as? any AccountSource {
        try former.context[CallAccounts.self]?.check(named, of: source, former)
      }
      let account = signature?.account ?? signing.account(of: former) ?? account
      let fields = signature?.headers ?? [:]
      // The request has a previous signature if an interceptor or a redirect sends it again. A token may be of the same
      // account.
      if let previous = former.context[Signed.self]?.signature.headers {
        signed.credentials.removeLast { $0.account == account && $0.headers == previous }
      }
      signed.credentials.append(Request.Credentials(account: account, headers: fields))
      return signed.context[CompressionMinSize.self].map(signed.compressed) ?? signed
    }
    .asObservable()
  }
}
