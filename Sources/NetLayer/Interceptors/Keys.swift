import PortableFoundation

/// The account with which an interceptor has authenticated a request, and the header fields of its credentials.
///
/// An interceptor that adds credentials appends a value to `request.context[Authentication.self]`, and returns the same
/// account from ``Interceptor/account(of:)``. ``CacheInterceptor`` stores a response for the account of the sent
/// request, and ``CoalescingInterceptor`` never shares a response between two accounts.
public struct Authentication: Sendable, ContextKey {
  /// No authentication.
  public static let defaultValue: [Authentication] = []

  /// An identifier of the user, or the token itself. It is not sent.
  public var account: String
  /// The header fields that contain the credentials, as they were set.
  public var fields: HTTPHeaders

  /// Creates an authentication of `account` with the credentials in `fields`.
  public init(account: String, fields: HTTPHeaders) {
    self.account = account
    self.fields = fields
  }

  /// Returns several accounts combined into one, or `nil` if there is none.
  static func joined(_ accounts: [String]) -> String? {
    accounts.count < 2 ? accounts.first : accounts.map { "\($0.utf8.count):\($0)" }.joined()
  }
}

extension ArraySlice<any Interceptor> {
  /// Returns the account with which the interceptors will authenticate `request`, or `nil` for none.
  func account(of request: Request) -> String? { Authentication.joined(compactMap { $0.account(of: request) }) }
}

/// A marker of requests whose caller receives progress, so that they can't share another request.
enum ReportsProgress: ContextKey {
  static let defaultValue = false
}
