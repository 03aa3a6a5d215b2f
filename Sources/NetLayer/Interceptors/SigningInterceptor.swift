import Streams

/// The interceptor that adds the backend's signature to each attempt. It follows all interceptors of the backend.
struct SigningInterceptor: Interceptor {
  /// The account of a signer that states none.
  let account: String

  func account(of request: Request) -> String? {
    request.context[Signing.self].map { $0.signer.account ?? account }
  }

  func prepare(_ request: inout Request) { request.markRefresh() }

  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard let signing = request.context[Signing.self] else { return next(request) }
    let isPartOfRefresh = request.context[IsPartOfRefresh.self]
    return Single.starting { [account] in
      let account = signing.signer.account ?? account
      var signed = try await IsPartOfRefresh.$isRefreshing.withValue(isPartOfRefresh) {
        try await signing.sign(request)
      }
      let fields = signed.context[Signed.self]?.signature.headers ?? [:]
      // The request has a previous signature if an interceptor sends it again. A token may be of the same account.
      if let previous = request.context[Signed.self]?.signature.headers,
        let place = signed.credentials.lastIndex(where: { $0.account == account && $0.headers == previous })
      {
        signed.credentials.remove(at: place)
      }
      signed.credentials.append(Request.Credentials(account: account, headers: fields))
      return signed.context[CompressionMinSize.self].map(signed.compressed) ?? signed
    }
    .asObservable()
    .mapError { [reading = next.network.reading] in reading.translated(NetworkError.wrapping($0)) }
    .observeOn(next.mapping).flatMap { next($0) }
  }
}
