import PortableFoundation

/// The request that a query sends, and its place among the watched requests.
struct QueryAddress: Sendable {
  /// Method, URL, header fields, body and user. Two requests with the same key share a query.
  let key: String
  let names: Set<String>
  /// The request before interceptors and the signer change it.
  let request: Request
  /// The interceptors whose user the query follows.
  let accounts: [AuthenticationInterceptor]

  static func name(_ tag: CacheTag) -> String { "tag \(tag.rawValue)" }
  static func name(_ request: Request) -> String { "\(request.method) \(CacheKey.stable(request.url))" }
}

extension Network {
  /// Returns the place of a call among the watched requests.
  ///
  /// - Throws: `NetworkError` if the request can't be built; the error is reported.
  func address(_ content: CallContent, accept: String?, _ paging: PagedKey? = nil) throws -> QueryAddress {
    do {
      var request = try builder.request(for: content, accept: accept)
      for interceptor in interceptors { interceptor.prepare(&request) }
      // Users with a token change within a query; all others have their own.
      let accounts = interceptors.compactMap { $0 as? AuthenticationInterceptor }.filter { $0.covers(request) }
      let owner = Owner(of: request, in: self)
      guard
        var key = CacheKey(
          request, account: owner.names.map { "\($0.utf8.count):\($0)" }.joined(), transport: transportIdentity,
          own: request.caching.key, hasBody: true)
      else {
        throw NetworkError(
          kind: .invalidRequest, reason: "\(request) can't be watched, because its body is not in memory",
          request: request)
      }
      for account in accounts { key.append("\(UInt(bitPattern: ObjectIdentifier(account)))") }
      for field in request.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
        key.append(field.name.lowercased())
        key.append(field.value)
      }
      key.append(paging?.text)
      var names = Set(content.caching.tags.map(QueryAddress.name))
      names.insert(QueryAddress.name(request))
      return QueryAddress(key: key.text, names: names, request: request, accounts: accounts)
    } catch {
      throw reading.report(reading.translated(NetworkError.wrapping(error)))
    }
  }
}

extension Interceptor {
  /// Returns the user whose credentials `request` carries, even before its server has asked for them.
  func user(of request: Request) -> String? {
    (self as? ChallengeInterceptor).map { $0.user(of: request) } ?? account(of: request)
  }
}

/// The user for whom a request is sent.
struct Owner: Sendable {
  private var tokens: [(generation: Int, account: String?)] = []
  /// The accounts that interceptors without a token state.
  private(set) var names: [String] = []

  init(of request: Request, in network: Network) {
    for interceptor in network.interceptors {
      if let interceptor = interceptor as? AuthenticationInterceptor {
        if interceptor.covers(request) { tokens.append(interceptor.identity) }
      } else if let cache = interceptor as? CacheInterceptor {
        if let account = cache.account { names.append(account(request) ?? "") }
      } else if let name = interceptor.user(of: request) {
        names.append(name)
      }
    }
  }

  /// Returns whether another user has signed in or out. A token refresh, and the first look at the token, change nothing.
  func differs(from former: Owner) -> Bool {
    guard names == former.names, tokens.count == former.tokens.count else { return true }
    return zip(tokens, former.tokens).contains { new, old in
      new.generation != old.generation || (new.account != old.account && new.account != nil && old.account != nil)
    }
  }
}
