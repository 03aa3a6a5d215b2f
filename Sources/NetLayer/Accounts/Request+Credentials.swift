import PortableFoundation

extension Request {
  /// The account with which an interceptor has authenticated a request, and the header fields of its credentials.
  public struct Credentials: Sendable {
    /// An identifier of the user: for an ``AccountSource``, the name in its ``AccountSource/accountState``. It is not sent.
    public var account: String
    /// The header fields that contain the credentials, as they were set.
    public var headers: HTTPHeaders

    /// Creates credentials of `account` in the fields `headers`.
    public init(account: String, headers: HTTPHeaders) {
      self.account = account
      self.headers = headers
    }

    static func joined(_ accounts: [String]) -> String? {
      accounts.count < 2 ? accounts.first : accounts.map { "\($0.utf8.count):\($0)" }.joined()
    }
  }

  /// The credentials that interceptors have added to the request, with ``InterceptorChain/callAsFunction(_:with:)``. Another
  /// origin does not receive their header fields. No response is stored for one account and returned to another.
  public internal(set) var credentials: [Credentials] {
    get { context[CredentialsKey.self] }
    set {
      // Prevents redirects, and URLs that a server has chosen, from sending the fields to another origin, regardless of their
      // names.
      for field in newValue.last?.headers ?? [:] { originBoundHeaders[field.name] = field.value }
      context[CredentialsKey.self] = newValue
    }
  }
}

extension [Request.Credentials] {
  mutating func removeLast(where matches: (Request.Credentials) -> Bool) {
    if let place = lastIndex(where: matches) { remove(at: place) }
  }
}

private enum CredentialsKey: ContextKey { static let defaultValue: [Request.Credentials] = [] }
